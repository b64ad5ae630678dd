import { Paper, Select, TextInput } from '@mantine/core';
import type { Invitation, Role } from '@quittance/client';
import { IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton, DialogButton, ShownOnce } from '../../parts/dialogs.tsx';
import { Loaded } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { type Column, Rows, textColumn, timeColumn } from '../../parts/table.tsx';
import { readAgain } from '../../queries.ts';
import { useSession } from '../../session/session.ts';
import { givenBy, invitationLink, roleMeanings } from './roles.ts';

type Invited = { email: string; token: string; expires_at: string };

/** Invites somebody. No e-mail is sent: the link is shown once, to be passed on. */
export function InviteButton() {
  const [invited, setInvited] = useState<Invited>();
  return (
    <>
      <DialogButton
        label="Invite somebody"
        variant="filled"
        leftSection={<IconUserPlus size={16} />}
        onDone={setInvited}
      >
        {(close) => <InviteForm onInvited={close} />}
      </DialogButton>
      <ShownOnce
        title="The link of the invitation"
        secret={invited && invitationLink(window.location.origin, invited.token)}
        copyLabel="Copy the link"
        onClose={() => setInvited(undefined)}
      >
        Pass it on to {invited?.email} yourself, by a way that nobody else reads: no e-mail is sent. Whoever
        has it can accept the invitation once, until{' '}
        {invited && new Date(invited.expires_at).toLocaleString()}.
      </ShownOnce>
    </>
  );
}

function InviteForm({ onInvited }: { onInvited(invited: Invited): void }) {
  const { role: ownRole } = useSession();
  const sent = useSentForm({
    initialValues: { email: '', role: 'viewer' as Role },
    send: ({ email, role }) => quittance.invitations.create({ email: email.trim(), role }),
    onDone: onInvited,
    changes: ['invitations'],
  });
  return (
    <SendForm
      sent={sent}
      button="Invite"
      unknown="It is not known whether there is an invitation now. Look at the list: withdraw one whose link you have not got, then invite again."
    >
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...sent.field('email')}
      />
      <Select
        label="Role"
        description={roleMeanings[sent.form.values.role]}
        data={givenBy(ownRole)}
        allowDeselect={false}
        {...sent.field('role')}
      />
    </SendForm>
  );
}

const columns: readonly Column<Invitation>[] = [
  textColumn('email', 'E-mail address'),
  textColumn('role', 'Role'),
  timeColumn('expires_at', 'Expires'),
  {
    id: 'withdraw',
    title: '',
    align: 'right',
    render: ({ id, email }) => (
      <ConfirmButton
        label="Withdraw"
        title="Withdraw the invitation?"
        size="compact-sm"
        act={() => quittance.invitations.withdraw(id)}
        onDone={() => readAgain('invitations')}
      >
        The link that was passed on to {email} is refused from then on.
      </ConfirmButton>
    ),
  },
];

/** Those that can still be accepted. */
export function Invitations() {
  const query = useRead(['invitations'], (options) => quittance.invitations.list(options));
  return (
    <Loaded query={query}>
      {(invitations) => (
        <Paper withBorder>
          <Rows
            rows={invitations}
            columns={columns}
            keyOf={({ id }) => id}
            empty="Nobody is invited"
            minWidth={560}
          />
        </Paper>
      )}
    </Loaded>
  );
}
