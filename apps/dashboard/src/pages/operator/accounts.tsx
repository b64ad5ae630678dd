import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { OperatedAccount } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { type Column, type Filter, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { type Invited, InvitedDialog, InviteForm, LimitForm } from './account-forms.tsx';
import { ByCommand, FormFailure } from './operator-parts.tsx';

type Act = { what: 'limit' | 'invite'; account: OperatedAccount };

/** All accounts of the installation. */
export function RoutePage() {
  const [isNew, setNew] = useState(false);
  const [act, setAct] = useState<Act>();
  const [invited, setInvited] = useState<Invited>();
  const columns: readonly Column<OperatedAccount>[] = [
    { id: 'name', title: 'Name', render: ({ name }) => name },
    { id: 'id', title: 'Id', render: ({ id }) => <Copyable text={id} label="Copy the id" />, isHidden: true },
    { id: 'created_at', title: 'Created', render: ({ created_at }) => <Time at={created_at} /> },
    { id: 'people', title: 'People', align: 'right', render: ({ people }) => people },
    { id: 'tokens', title: 'API tokens', align: 'right', render: ({ tokens }) => tokens },
    {
      id: 'requests_per_minute',
      title: 'Requests a minute',
      align: 'right',
      render: ({ requests_per_minute }) => requests_per_minute ?? 'default',
    },
    {
      id: 'acts',
      title: 'Actions',
      render: (account) => (
        <Group gap="xs" wrap="nowrap">
          <Button size="xs" variant="default" onClick={() => setAct({ what: 'limit', account })}>
            Limit
          </Button>
          {account.people === 0 && account.tokens === 0 && (
            <Button size="xs" variant="default" onClick={() => setAct({ what: 'invite', account })}>
              Invite its owner
            </Button>
          )}
        </Group>
      ),
    },
  ];
  return (
    <Page title="Accounts" actions={<Button onClick={() => setNew(true)}>New account</Button>}>
      <ListPage<OperatedAccount>
        name="operator-accounts"
        load={(query, signal) => quittance.operator.accounts(query, { signal })}
        columns={columns}
        filters={filters}
        empty={{ title: 'No accounts yet', text: 'Each merchant has one, with its own balances.' }}
      />
      <ByCommand
        commands={[
          ['An API token for an account:', 'token create "My shop" --name server'],
          ['A new password for somebody who has lost it:', 'people reset --email anna@shop.example'],
          ['Another operator:', 'people operator anna@shop.example --grant --account "My shop"'],
        ]}
      />
      <Modal opened={isNew} onClose={() => setNew(false)} title="New account">
        <AccountForm onDone={() => setNew(false)} />
      </Modal>
      <Modal
        opened={act !== undefined}
        onClose={() => setAct(undefined)}
        title={
          act === undefined
            ? ''
            : `${act.what === 'limit' ? 'Limit' : 'Invite somebody to'} ${act.account.name}`
        }
      >
        {act?.what === 'limit' && <LimitForm account={act.account} onDone={() => setAct(undefined)} />}
        {act?.what === 'invite' && (
          <InviteForm
            account={act.account}
            onInvited={(answer) => {
              setAct(undefined);
              setInvited(answer);
            }}
          />
        )}
      </Modal>
      <InvitedDialog invited={invited} onClose={() => setInvited(undefined)} />
    </Page>
  );
}

const filters: readonly Filter[] = [{ name: 'search', label: 'Name', kind: 'text', placeholder: 'My shop' }];

function AccountForm({ onDone }: { onDone(): void }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const form = useForm({ initialValues: { name: '' } });
  const create = useMutation({
    mutationFn: (account: { name: string }) => stepUp(() => quittance.operator.createAccount(account)),
    onSuccess: onDone,
    onError: (error) => form.setErrors(errorsOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['operator-accounts'] }),
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        <TextInput
          label="Name"
          description="No two accounts have the same one"
          required
          maxLength={255}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <FormFailure error={create.error} />
        <UnknownOutcome error={create.error}>
          It is not known whether the account was created. Sending the same name again creates no second one.
        </UnknownOutcome>
        <Button type="submit" loading={create.isPending}>
          Create
        </Button>
      </Stack>
    </form>
  );
}
