import { Button, Modal, Paper, Select, Stack, Table, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { Role } from '@quittance/client';
import { IconUserPlus } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { Empty, Loaded } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Time } from '../../parts/time.tsx';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useSession } from '../../session/session.ts';
import { useStepUp } from '../../session/step-up.tsx';
import { givenBy, invitationLink, roleMeanings } from './roles.ts';

type Invited = { email: string; token: string; expires_at: string };

/** Invites somebody. No e-mail is sent: the link is shown once, to be passed on. */
export function InviteButton() {
  const [isOpen, { open, close }] = useDisclosure();
  const [invited, setInvited] = useState<Invited>();
  return (
    <>
      <Button leftSection={<IconUserPlus size={16} />} onClick={open}>
        Invite somebody
      </Button>
      <Modal opened={isOpen} onClose={close} title="Invite somebody">
        <InviteForm
          onInvited={(answer) => {
            close();
            setInvited(answer);
          }}
        />
      </Modal>
      <ShownOnce
        title="The link of the invitation"
        secret={invited && invitationLink(window.location.origin, invited.token)}
        copyLabel="Copy the link"
        onClose={() => setInvited(undefined)}
      >
        {invited !== undefined && (
          <>
            Pass it on to {invited.email} yourself, by a way that nobody else reads: no e-mail is sent.
            Whoever has it can accept the invitation once, until{' '}
            {new Date(invited.expires_at).toLocaleString()}.
          </>
        )}
      </ShownOnce>
    </>
  );
}

function InviteForm({ onInvited }: { onInvited(invited: Invited): void }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const { role: ownRole } = useSession();
  const form = useForm({ initialValues: { email: '', role: 'viewer' as Role } });
  const invite = useMutation({
    mutationFn: ({ email, role }: typeof form.values) =>
      stepUp(() => quittance.invitations.create({ email: email.trim(), role })),
    onSuccess: onInvited,
    onError: (error) => form.setErrors(errorsOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['invitations'] }),
  });
  return (
    <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('email')}
        />
        <Select
          label="Role"
          description={roleMeanings[form.values.role]}
          data={givenBy(ownRole)}
          allowDeselect={false}
          {...form.getInputProps('role')}
        />
        <UnknownOutcome error={invite.error}>
          It is not known whether there is an invitation now. Look at the list: withdraw one whose link you
          have not got, then invite again.
        </UnknownOutcome>
        {invite.error !== null && <Failure error={invite.error} />}
        <Button type="submit" loading={invite.isPending}>
          Invite
        </Button>
      </Stack>
    </form>
  );
}

/** Those that can still be accepted. */
export function Invitations() {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ['invitations'],
    queryFn: ({ signal }) => quittance.invitations.list({ signal }),
  });
  return (
    <Loaded query={query}>
      {(invitations) => (
        <Paper withBorder>
          {invitations.length === 0 ? (
            <Empty title="Nobody is invited" />
          ) : (
            <ScrollTable minWidth={560} verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>E-mail address</Table.Th>
                  <Table.Th>Role</Table.Th>
                  <Table.Th>Expires</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {invitations.map(({ id, email, role, expires_at: end }) => (
                  <Table.Tr key={id}>
                    <Table.Td>{email}</Table.Td>
                    <Table.Td>{role ?? '—'}</Table.Td>
                    <Table.Td>
                      <Time at={end} />
                    </Table.Td>
                    <Table.Td ta="right">
                      <ConfirmButton
                        label="Withdraw"
                        title="Withdraw the invitation?"
                        size="compact-sm"
                        act={() => quittance.invitations.withdraw(id)}
                        onDone={() => client.invalidateQueries({ queryKey: ['invitations'] })}
                      >
                        The link that was passed on to <Text span>{email}</Text> is refused from then on.
                      </ConfirmButton>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </ScrollTable>
          )}
        </Paper>
      )}
    </Loaded>
  );
}
