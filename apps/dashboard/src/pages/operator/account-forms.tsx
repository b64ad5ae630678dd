import { Alert, Button, NumberInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { OperatedAccount, Role } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { Time } from '../../parts/time.tsx';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { FormFailure } from './operator-parts.tsx';

const REQUESTS_DEFAULT = 60;

/** How many requests each token of an account may send in a minute. */
export function LimitForm({ account, onDone }: { account: OperatedAccount; onDone(): void }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const { id, requests_per_minute: present } = account;
  const form = useForm({
    initialValues: { own: present !== null, requests_per_minute: present ?? REQUESTS_DEFAULT },
  });
  const limit = useMutation({
    mutationFn: (requests: number | null) => stepUp(() => quittance.operator.limitAccount(id, requests)),
    onSuccess: onDone,
    onError: (error) => form.setErrors(errorsOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['operator-accounts'] }),
  });
  return (
    <form
      onSubmit={form.onSubmit(({ own, requests_per_minute }) =>
        limit.mutate(own ? requests_per_minute : null),
      )}
    >
      <Stack>
        <Switch label="A limit of its own" {...form.getInputProps('own', { type: 'checkbox' })} />
        <NumberInput
          label="Requests a minute"
          description="Of each API token of the account, in force within a minute"
          min={1}
          max={1_000_000}
          allowDecimal={false}
          disabled={!form.values.own}
          {...form.getInputProps('requests_per_minute')}
        />
        <FormFailure error={limit.error} />
        <Button type="submit" loading={limit.isPending}>
          Save
        </Button>
      </Stack>
    </form>
  );
}

const roles: readonly Role[] = ['owner', 'admin', 'developer', 'accountant', 'viewer'];

/** Invites somebody, and shows the link once. */
export function InviteForm({ account }: { account: OperatedAccount }) {
  const stepUp = useStepUp();
  const form = useForm<{ email: string; role: Role }>({ initialValues: { email: '', role: 'owner' } });
  const invite = useMutation({
    mutationFn: (invitation: { email: string; role: Role }) =>
      stepUp(() => quittance.operator.invite(account.id, invitation)),
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  if (invite.data !== undefined)
    return (
      <Stack>
        <Text size="sm">
          Pass this link on to {invite.data.email}. It is good once, until{' '}
          <Time at={invite.data.expires_at} />.
        </Text>
        <Copyable
          text={`${window.location.origin}/dashboard/#invitation=${invite.data.token}`}
          label="Copy the link"
        />
        <Alert color="yellow">It is stored nowhere and will not be shown again.</Alert>
      </Stack>
    );
  return (
    <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          required
          data-autofocus
          {...form.getInputProps('email')}
        />
        <Select label="Role" data={roles} allowDeselect={false} {...form.getInputProps('role')} />
        <FormFailure error={invite.error} />
        <UnknownOutcome error={invite.error}>
          It is not known whether the invitation was created. Another one takes its place.
        </UnknownOutcome>
        <Button type="submit" loading={invite.isPending}>
          Invite
        </Button>
      </Stack>
    </form>
  );
}
