import { Group, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Passkey } from '@quittance/client';
import { quittance } from '../../client.ts';
import { ConfirmButton, DialogButton } from '../../parts/dialogs.tsx';
import { Loaded, Note } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { type Column, Rows, textColumn, timeColumn } from '../../parts/table.tsx';
import { readAgain } from '../../queries.ts';
import { hasPasskeys, newPasskey } from '../../session/passkey-browser.ts';
import { useStepUp } from '../../session/step-up.tsx';

const columns: readonly Column<Passkey>[] = [
  textColumn('name', 'Name'),
  timeColumn('created_at', 'Added'),
  timeColumn('last_used_at', 'Last used', { never: 'never' }),
  {
    id: 'actions',
    title: '',
    align: 'right',
    render: ({ id, name }) => (
      <Group gap={4} justify="flex-end" wrap="nowrap">
        <DialogButton label="Rename" title={`Rename ${name}`} size="compact-sm">
          {(close) => (
            <NameForm
              button="Rename"
              initial={name}
              act={(given) => quittance.me.renamePasskey(id, given)}
              onDone={close}
            />
          )}
        </DialogButton>
        <ConfirmButton
          label="Remove"
          title={`Remove ${name}?`}
          size="compact-sm"
          act={() => quittance.me.removePasskey(id)}
          onDone={() => {
            notifications.show({ message: `${name} is removed. Your other sessions have ended.` });
            return readAgain('passkeys', 'me');
          }}
        >
          It does not sign in any more, and your other sessions end.
        </ConfirmButton>
      </Group>
    ),
  },
];

/** The passkeys of the person: each signs in without password and code. */
export function Passkeys() {
  const stepUp = useStepUp();
  const query = useRead(['passkeys'], (options) => quittance.me.passkeys(options));
  const add = async (name: string) => {
    const credential = await newPasskey(await stepUp(() => quittance.me.beginPasskey()));
    await stepUp(() => quittance.me.addPasskey({ name, credential }));
  };
  return (
    <Stack>
      <Text size="sm">
        A passkey signs in by the fingerprint, the face or the PIN of a device, without password and code. A
        page that imitates this one gets nothing from it.
      </Text>
      <Loaded query={query}>
        {(passkeys) =>
          passkeys.length > 0 && (
            <Rows rows={passkeys} columns={columns} keyOf={({ id }) => id} minWidth={460} />
          )
        }
      </Loaded>
      {hasPasskeys() ? (
        <Group>
          <DialogButton label="Add a passkey">
            {(close) => <NameForm button="Add a passkey" initial="" act={add} onDone={close} />}
          </DialogButton>
        </Group>
      ) : (
        <Note>This browser makes no passkeys here. They need HTTPS and a host name.</Note>
      )}
    </Stack>
  );
}

type NameProps = { button: string; initial: string; act(name: string): Promise<unknown>; onDone(): void };

function NameForm({ button, initial, act, onDone }: NameProps) {
  const sent = useSentForm({
    initialValues: { name: initial },
    send: ({ name }) => act(name.trim()),
    onDone,
    changes: ['passkeys', 'me'],
  });
  return (
    <SendForm sent={sent} button={button}>
      <TextInput label="Name" placeholder="My phone" required data-autofocus {...sent.field('name')} />
    </SendForm>
  );
}
