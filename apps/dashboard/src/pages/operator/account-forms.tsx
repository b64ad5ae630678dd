import { Button, NumberInput, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { OperatedAccount, Role } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { errorsOf } from '../../parts/form-errors.ts';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Time } from '../../parts/time.tsx';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { givenBy, invitationLink } from '../settings/roles.ts';
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

export type Invited = Awaited<ReturnType<typeof quittance.operator.invite>>;

/** Invites somebody. */
export function InviteForm({
  account,
  onInvited,
}: {
  account: OperatedAccount;
  onInvited(invited: Invited): void;
}) {
  const stepUp = useStepUp();
  const form = useForm<{ email: string; role: Role }>({ initialValues: { email: '', role: 'owner' } });
  const invite = useMutation({
    mutationFn: (invitation: { email: string; role: Role }) =>
      stepUp(() => quittance.operator.invite(account.id, invitation)),
    onSuccess: onInvited,
    onError: (error) => form.setErrors(errorsOf(error)),
  });
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
        <Select label="Role" data={givenBy('owner')} allowDeselect={false} {...form.getInputProps('role')} />
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

/** The link of an invitation, once. */
export const InvitedDialog = ({ invited, onClose }: { invited: Invited | undefined; onClose(): void }) => (
  <ShownOnce
    title="The link of the invitation"
    secret={invited && invitationLink(window.location.origin, invited.token)}
    copyLabel="Copy the link"
    onClose={onClose}
  >
    {invited !== undefined && (
      <>
        Pass it on to {invited.email}: no e-mail is sent. It is good once, until{' '}
        <Time at={invited.expires_at} />.
      </>
    )}
  </ShownOnce>
);
