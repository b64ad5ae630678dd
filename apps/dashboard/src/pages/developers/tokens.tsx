import { Badge, Button, Code, Group, Stack, Text, Tooltip } from '@mantine/core';
import { scopeMeanings, type Token } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { type Column, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { NewToken } from './new-token.tsx';
import { RevokeToken, RotateToken } from './token-actions.tsx';

/** A token that was created just now: it is shown, and then known to nobody here. */
type Shown = { token: string; text: string };

export function RoutePage() {
  const mayWrite = useMay('tokens:write');
  const [isCreating, setCreating] = useState(false);
  const [shown, setShown] = useState<Shown>();
  return (
    <Page
      title="API tokens"
      actions={
        mayWrite && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            Create a token
          </Button>
        )
      }
    >
      <Text size="sm" c="dimmed">
        A program sends its token with each request. Give each program its own, with what it needs and no
        more.
      </Text>
      <ListPage<Token>
        name="tokens"
        load={(query, signal) => quittance.tokens.list(query, { signal })}
        columns={columnsOf(mayWrite ? setShown : undefined)}
        empty={{ title: 'There are no API tokens', text: 'Your shop needs one to create invoices.' }}
      />
      <NewToken
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={({ token, name }) => {
          setCreating(false);
          setShown({ token, text: `It belongs into the settings of ${name}.` });
        }}
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

const columns: readonly Column<Token>[] = [
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
        <Stack gap={0}>
          <Time at={at} />
          {ip !== null && (
            <Text size="xs" c="dimmed">
              {ip}
            </Text>
          )}
        </Stack>
      ),
  },
  {
    id: 'expires_at',
    title: 'Expires',
    render: ({ expires_at: at }) => (at === null ? 'never' : <Time at={at} />),
  },
  { id: 'created_at', title: 'Created', isHidden: true, render: ({ created_at: at }) => <Time at={at} /> },
  {
    id: 'revoked_at',
    title: 'Revoked',
    isHidden: true,
    render: ({ revoked_at: at }) => <Time at={at} />,
  },
];

/** @param onShown undefined for those who may not change tokens */
function columnsOf(onShown: ((shown: Shown) => void) | undefined): Column<Token>[] {
  const actions = (token: Token) =>
    token.state === 'active' &&
    onShown !== undefined && (
      <>
        {token.replaced_by === null && <RotateToken token={token} onRotated={onShown} />}
        <RevokeToken token={token} />
      </>
    );
  const name: Column<Token> = {
    id: 'name',
    title: 'Name',
    render: (token) => (
      <Stack gap={0} style={{ overflowWrap: 'anywhere', minWidth: 165 }}>
        <Text size="sm" fw={600}>
          {token.name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          qt_…{token.hint}
        </Text>
        <Group gap={4} mt={4} hiddenFrom="sm">
          {actions(token)}
        </Group>
      </Stack>
    ),
  };
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
  return [name, ...columns, ...(onShown === undefined ? [] : [change])];
}

function Scopes({ token: { scopes, allowed_ips: addresses } }: { token: Token }) {
  return (
    <Stack gap={2} style={{ minWidth: 160 }}>
      <Group gap={4}>
        {scopes === null ? (
          <Text size="sm">everything</Text>
        ) : (
          scopes.map((scope) => (
            <Tooltip
              key={scope}
              label={scopeMeanings[scope]}
              events={{ hover: true, focus: true, touch: true }}
            >
              <Code tabIndex={0}>{scope}</Code>
            </Tooltip>
          ))
        )}
      </Group>
      {addresses !== null && (
        <Text size="xs" c="dimmed">
          from {addresses.join(', ')}
        </Text>
      )}
    </Stack>
  );
}
