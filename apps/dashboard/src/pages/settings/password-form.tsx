import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useSession } from '../../session/session.ts';
import { useStepUp } from '../../session/step-up.tsx';

export function PasswordForm() {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const { email } = useSession();
  const form = useForm({
    initialValues: { current_password: '', password: '', again: '' },
    validate: {
      again: (again, { password }) =>
        again === password ? null : 'This is another password than the one above.',
    },
  });
  const change = useMutation({
    mutationFn: ({ current_password, password }: typeof form.values) =>
      stepUp(() => quittance.me.changePassword({ current_password, password })),
    onSuccess: () => {
      form.reset();
      notifications.show({ message: 'The password is changed. Your other sessions have ended.' });
      return client.invalidateQueries({ queryKey: ['sessions'] });
    },
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  return (
    <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
      {/* Password managers want to know whose password it is. */}
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <Stack>
        <PasswordInput
          label="Present password"
          autoComplete="current-password"
          required
          maw={360}
          {...form.getInputProps('current_password')}
        />
        <PasswordInput
          label="New password"
          description="At least 12 characters. Common ones are refused."
          autoComplete="new-password"
          required
          maw={360}
          {...form.getInputProps('password')}
        />
        <PasswordInput
          label="New password again"
          autoComplete="new-password"
          required
          maw={360}
          {...form.getInputProps('again')}
        />
        <UnknownOutcome error={change.error}>
          <Text size="sm">
            It is not known whether the password was changed. Sign in with the new one in another window to
            find out.
          </Text>
        </UnknownOutcome>
        {change.error !== null && <Failure error={change.error} />}
        <Group>
          <Button type="submit" loading={change.isPending}>
            Change the password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
