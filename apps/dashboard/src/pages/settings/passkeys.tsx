import { Button, Group, Modal, Stack, Table, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { Passkey } from '@quittance/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { Loaded } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { ME } from '../../queries.ts';
import { hasPasskeys, newPasskey } from '../../session/passkey-browser.ts';
import { useStepUp } from '../../session/step-up.tsx';

/** The passkeys of the person: each signs in without password and code. */
export function Passkeys() {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ['passkeys'],
    queryFn: ({ signal }) => quittance.me.passkeys({ signal }),
  });
  const changed = async () => {
    await client.invalidateQueries({ queryKey: ['passkeys'] });
    await client.invalidateQueries({ queryKey: ME });
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
            <ScrollTable minWidth={460} verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Name</Table.Th>
                  <Table.Th>Added</Table.Th>
                  <Table.Th>Last used</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {passkeys.map((passkey) => (
                  <PasskeyRow key={passkey.id} passkey={passkey} onChanged={changed} />
                ))}
              </Table.Tbody>
            </ScrollTable>
          )
        }
      </Loaded>
      {hasPasskeys() ? (
        <AddPasskey onChanged={changed} />
      ) : (
        <Text size="sm" c="dimmed">
          This browser makes no passkeys here. They need HTTPS and a host name.
        </Text>
      )}
    </Stack>
  );
}

type RowProps = { passkey: Passkey; onChanged(): Promise<void> };

const PasskeyRow = ({ passkey, onChanged }: RowProps) => (
  <Table.Tr>
    <Table.Td>{passkey.name}</Table.Td>
    <Table.Td>
      <Time at={passkey.created_at} />
    </Table.Td>
    <Table.Td>{passkey.last_used_at === null ? 'never' : <Time at={passkey.last_used_at} />}</Table.Td>
    <Table.Td>
      <Group gap={4} justify="flex-end" wrap="nowrap">
        <RenamePasskey passkey={passkey} onChanged={onChanged} />
        <ConfirmButton
          label="Remove"
          title={`Remove ${passkey.name}?`}
          size="compact-sm"
          act={() => quittance.me.removePasskey(passkey.id)}
          onDone={() => {
            notifications.show({ message: `${passkey.name} is removed. Your other sessions have ended.` });
            return onChanged();
          }}
        >
          It does not sign in any more, and your other sessions end.
        </ConfirmButton>
      </Group>
    </Table.Td>
  </Table.Tr>
);

/** A dialog that asks for a name. */
function NameDialog({
  label,
  title,
  initial,
  size,
  act,
  onDone,
}: {
  label: string;
  title: string;
  initial: string;
  size?: 'compact-sm';
  act(name: string): Promise<unknown>;
  onDone(): Promise<void>;
}) {
  const [isOpen, { open, close }] = useDisclosure();
  const form = useForm({ initialValues: { name: initial } });
  const run = useMutation({
    mutationFn: (name: string) => act(name),
    onSuccess: async () => {
      close();
      await onDone();
    },
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  return (
    <>
      <Button
        variant="default"
        {...(size === undefined ? {} : { size })}
        onClick={() => {
          run.reset();
          form.setValues({ name: initial });
          open();
        }}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        <form onSubmit={form.onSubmit(({ name }) => run.mutate(name.trim()))}>
          <Stack>
            <TextInput
              label="Name"
              placeholder="My phone"
              required
              data-autofocus
              {...form.getInputProps('name')}
            />
            {run.error !== null && <Failure error={run.error} />}
            <Button type="submit" loading={run.isPending}>
              {label}
            </Button>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

const RenamePasskey = ({ passkey, onChanged }: RowProps) => (
  <NameDialog
    label="Rename"
    title={`Rename ${passkey.name}`}
    initial={passkey.name}
    size="compact-sm"
    act={(name) => quittance.me.renamePasskey(passkey.id, name)}
    onDone={onChanged}
  />
);

function AddPasskey({ onChanged }: Pick<RowProps, 'onChanged'>) {
  const stepUp = useStepUp();
  return (
    <Group>
      <NameDialog
        label="Add a passkey"
        title="Add a passkey"
        initial=""
        act={async (name) => {
          const credential = await newPasskey(await stepUp(() => quittance.me.beginPasskey()));
          await stepUp(() => quittance.me.addPasskey({ name, credential }));
        }}
        onDone={onChanged}
      />
    </Group>
  );
}
