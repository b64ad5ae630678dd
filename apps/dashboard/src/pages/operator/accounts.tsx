import { Group, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import type { OperatedAccount, Role } from '@quittance/client';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { DialogButton, ShownOnce } from '../../parts/dialogs.tsx';
import type { Filter } from '../../parts/list-filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { type Column, textColumn, timeColumn } from '../../parts/table.tsx';
import { Copyable, Time } from '../../parts/values.tsx';
import { givenBy, invitationLink } from '../settings/roles.ts';
import { ByCommand } from './operator-parts.tsx';

type Invited = Awaited<ReturnType<typeof quittance.operator.invite>>;

const filters: readonly Filter[] = [{ name: 'search', label: 'Name', kind: 'text', placeholder: 'My shop' }];

const columnsOf = (onInvited: (invited: Invited) => void): readonly Column<OperatedAccount>[] => [
  textColumn('name', 'Name'),
  { id: 'id', title: 'Id', render: ({ id }) => <Copyable text={id} label="Copy the id" />, isHidden: true },
  timeColumn('created_at', 'Created'),
  textColumn('people', 'People', { align: 'right' }),
  textColumn('tokens', 'API tokens', { align: 'right' }),
  {
    id: 'requests_per_minute',
    title: 'Requests a minute',
    align: 'right',
    render: ({ requests_per_minute: limit }) => limit ?? 'default',
  },
  {
    id: 'acts',
    title: 'Actions',
    render: (account) => (
      <Group gap="xs" wrap="nowrap">
        <DialogButton label="Limit" title={`Limit ${account.name}`} size="xs">
          {(close) => <LimitForm account={account} onDone={close} />}
        </DialogButton>
        {account.people === 0 && account.tokens === 0 && (
          <DialogButton
            label="Invite its owner"
            title={`Invite somebody to ${account.name}`}
            size="xs"
            onDone={onInvited}
          >
            {(close) => <InviteForm account={account} onDone={close} />}
          </DialogButton>
        )}
      </Group>
    ),
  },
];

const commands = {
  'An API token for an account:': 'token create "My shop" --name server',
  'A new password for somebody who has lost it:': 'people reset --email anna@shop.example',
  'Another operator:': 'people operator anna@shop.example --grant --account "My shop"',
};

/** All accounts of the installation. */
export function RoutePage() {
  const [invited, setInvited] = useState<Invited>();
  return (
    <Page
      title="Accounts"
      actions={
        <DialogButton label="New account" variant="filled">
          {(close) => <AccountForm onDone={close} />}
        </DialogButton>
      }
    >
      <ListPage<OperatedAccount>
        name="operator-accounts"
        load={(query, options) => quittance.operator.accounts(query, options)}
        columns={columnsOf(setInvited)}
        filters={filters}
        empty={{ title: 'No accounts yet', text: 'Each merchant has one, with its own balances.' }}
      />
      <ByCommand commands={commands} />
      <ShownOnce
        title="The link of the invitation"
        secret={invited && invitationLink(window.location.origin, invited.token)}
        copyLabel="Copy the link"
        onClose={() => setInvited(undefined)}
      >
        Pass it on to {invited?.email}: no e-mail is sent. It is good once, until{' '}
        <Time at={invited?.expires_at} />.
      </ShownOnce>
    </Page>
  );
}

function AccountForm({ onDone }: { onDone(): void }) {
  const sent = useSentForm({
    initialValues: { name: '' },
    send: (account) => quittance.operator.createAccount(account),
    onDone,
    changes: ['operator-accounts'],
  });
  return (
    <SendForm
      sent={sent}
      button="Create"
      unknown="It is not known whether the account was created. Sending the same name again creates no second one."
    >
      <TextInput
        label="Name"
        description="No two accounts have the same one"
        required
        maxLength={255}
        data-autofocus
        {...sent.field('name')}
      />
    </SendForm>
  );
}

const REQUESTS_DEFAULT = 60;

type FormProps<Answer> = { account: OperatedAccount; onDone(answer: Answer): void };

/** How many requests each token of an account may send in a minute. */
function LimitForm({ account: { id, requests_per_minute: present }, onDone }: FormProps<unknown>) {
  const sent = useSentForm({
    initialValues: { own: present !== null, requests_per_minute: present ?? REQUESTS_DEFAULT },
    send: ({ own, requests_per_minute: limit }) => quittance.operator.limitAccount(id, own ? limit : null),
    onDone,
    changes: ['operator-accounts'],
  });
  return (
    <SendForm sent={sent} button="Save">
      <Switch label="A limit of its own" {...sent.field('own', { type: 'checkbox' })} />
      <NumberInput
        label="Requests a minute"
        description="Of each API token of the account, in force within a minute"
        min={1}
        max={1_000_000}
        allowDecimal={false}
        disabled={!sent.form.values.own}
        {...sent.field('requests_per_minute')}
      />
    </SendForm>
  );
}

function InviteForm({ account, onDone }: FormProps<Invited>) {
  const sent = useSentForm({
    initialValues: { email: '', role: 'owner' as Role },
    send: (invitation) => quittance.operator.invite(account.id, invitation),
    onDone,
  });
  return (
    <SendForm
      sent={sent}
      button="Invite"
      unknown="It is not known whether the invitation was created. Another one takes its place."
    >
      <TextInput label="E-mail address" type="email" required data-autofocus {...sent.field('email')} />
      <Select label="Role" data={givenBy('owner')} allowDeselect={false} {...sent.field('role')} />
    </SendForm>
  );
}
