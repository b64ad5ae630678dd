import { Badge, Code, Group, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { scopeMeanings, type Token } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton, DialogButton, ShownOnce } from '../../parts/dialogs.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { Note, Page, WithNote } from '../../parts/page.tsx';
import { type Column, hidden, timeColumn } from '../../parts/table.tsx';
import { StateBadge, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { NewToken } from './new-token.tsx';
import { RotateForm } from './rotate-form.tsx';

/** A token that was created just now: it is shown, and then known to nobody here. */
type Shown = { token: string; text: string };

export function RoutePage() {
  const mayWrite = useMay('tokens:write');
  const [shown, setShown] = useState<Shown>();
  return (
    <Page
      title="API tokens"
      actions={
        mayWrite && (
          <DialogButton<Shown>
            label="Create a token"
            onDone={setShown}
            title="Create an API token"
            variant="filled"
            leftSection={<IconPlus size={16} />}
            dialogSize="xl"
            isKept
          >
            {(close) => (
              <NewToken
                onCreated={({ token, name }) =>
                  close({ token, text: `It belongs into the settings of ${name}.` })
                }
              />
            )}
          </DialogButton>
        )
      }
    >
      <Note>
        A program sends its token with each request. Give each program its own, with what it needs and no
        more.
      </Note>
      <ListPage<Token>
        name="tokens"
        load={(query, options) => quittance.tokens.list(query, options)}
        columns={columnsOf(mayWrite ? setShown : undefined)}
        empty={{ title: 'There are no API tokens', text: 'Your shop needs one to create invoices.' }}
      />
      <ShownOnce
        title="The new API token"
        secret={shown?.token}
        copyLabel="Copy the token"
        onClose={() => setShown(undefined)}
      >
        {shown?.text}
      </ShownOnce>
    </Page>
  );
}

/** @param onShown undefined for those who may not change tokens */
function columnsOf(onShown: ((shown: Shown) => void) | undefined): Column<Token>[] {
  const actions = (token: Token) =>
    token.state === 'active' && onShown && <Actions token={token} onRotated={onShown} />;
  const change: Column<Token> = {
    id: 'actions',
    title: 'Change',
    align: 'right',
    render: (token) => (
      <Group gap={4} justify="flex-end" wrap="nowrap" visibleFrom="sm">
        {actions(token)}
      </Group>
    ),
  };
  return [
    {
      id: 'name',
      title: 'Name',
      render: (token) => (
        <>
          <WithNote width={165} note={<Text span inherit ff="monospace">{`qt_…${token.hint}`}</Text>}>
            <b>{token.name}</b>
          </WithNote>
          <Group gap={4} mt={4} hiddenFrom="sm">
            {actions(token)}
          </Group>
        </>
      ),
    },
    {
      id: 'state',
      title: 'State',
      render: ({ state, replaced_by: replacement }) => (
        <Group gap={4}>
          <StateBadge state={state} />
          {replacement !== null && state === 'active' && (
            <Tooltip label="Another token takes its place: it stays valid until its programs have changed.">
              <Badge variant="outline" color="yellow" radius="sm" tt="none" miw="max-content" tabIndex={0}>
                rotated
              </Badge>
            </Tooltip>
          )}
        </Group>
      ),
    },
    { id: 'scopes', title: 'May', render: (token) => <Scopes token={token} /> },
    {
      id: 'last_used_at',
      title: 'Last used',
      render: ({ last_used_at: at, last_used_ip: ip }) =>
        at === null ? (
          'never'
        ) : (
          <WithNote note={ip}>
            <Time at={at} />
          </WithNote>
        ),
    },
    timeColumn('expires_at', 'Expires', { never: 'never' }),
    timeColumn('created_at', 'Created', hidden),
    timeColumn('revoked_at', 'Revoked', hidden),
    ...(onShown === undefined ? [] : [change]),
  ];
}

const overlaps = [
  { value: 0, label: 'Not at all: it ends now' },
  { value: 1, label: 'For an hour' },
  { value: 24, label: 'For a day' },
  { value: 72, label: 'For three days' },
  { value: 168, label: 'For a week' },
] as const;

type ActionsProps = { token: Token; onRotated(shown: Shown): void };

/** Replaces a token by a new one, or revokes it. */
function Actions({ token, onRotated }: ActionsProps) {
  const { id, name, hint, replaced_by: replacement } = token;
  return (
    <>
      {replacement === null && (
        <DialogButton label="Rotate" title={`Rotate ${name}`} size="compact-sm" isKept onDone={onRotated}>
          {(close) => <RotateToken token={token} onRotated={close} />}
        </DialogButton>
      )}
      <ConfirmButton
        label="Revoke"
        title={`Revoke ${name}?`}
        size="compact-sm"
        act={() => quittance.tokens.revoke(id)}
        onDone={() => {
          notifications.show({ message: `${name} is revoked.` });
          return readAgain('tokens');
        }}
      >
        The next request with the token that ends in {hint} is refused. This cannot be undone. Tokens that it
        has created stay.
      </ConfirmButton>
    </>
  );
}

function RotateToken({ token: { id, hint }, onRotated }: ActionsProps) {
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  return (
    <RotateForm
      overlaps={overlaps}
      send={(hours) => quittance.tokens.rotate(id, { overlap_hours: hours }, { idempotencyKey })}
      onDone={({ token, former_token_expires_at: end }) => {
        const until = new Date(end).toLocaleString();
        onRotated({ token, text: `The former one, which ends in ${hint}, is valid until ${until}.` });
      }}
      changes={['tokens']}
      unknown="It is not known whether it was rotated. Look at the list: if there is a new one, rotate that one, because it cannot be shown any more."
    >
      A new token with the same name, scopes and addresses is created. Put it into the program while both are
      valid.
    </RotateForm>
  );
}

function Scopes({ token: { scopes, allowed_ips: addresses } }: { token: Token }) {
  return (
    <WithNote width={160} note={addresses && `from ${addresses.join(', ')}`}>
      <Group gap={4}>
        {scopes?.map((scope) => (
          <Tooltip
            key={scope}
            label={scopeMeanings[scope]}
            events={{ hover: true, focus: true, touch: true }}
          >
            <Code tabIndex={0}>{scope}</Code>
          </Tooltip>
        )) ?? 'everything'}
      </Group>
    </WithNote>
  );
}
