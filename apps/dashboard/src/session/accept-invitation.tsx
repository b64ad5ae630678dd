import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { SignedIn } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../client.ts';
import { Failure } from '../parts/failure.tsx';
import { errorsOf } from '../parts/form-errors.ts';
import { ME } from '../queries.ts';
import { SessionPage } from './session-page.tsx';

type Props = { token: string; session: SignedIn | undefined };

/** Takes the token of an invitation: with a name and a password, or with the session of somebody who has both. */
export function AcceptInvitation({ token, session }: Props) {
  const client = useQueryClient();
  const [isDone, setDone] = useState(false);
  const form = useForm({ initialValues: { name: '', password: '', again: '' } });
  const accept = useMutation({
    mutationFn: async ({ name, password }: { name: string; password: string }) =>
      quittance.invitations.accept(session === undefined ? { token, name, password } : { token }),
    onSuccess: () => setDone(true),
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  const leave = () => {
    window.history.replaceState(null, '', '/dashboard/');
    void client.invalidateQueries({ queryKey: ME });
    window.location.reload();
  };
  if (isDone)
    return (
      <SessionPage title="Welcome">
        <Text>The invitation is accepted.</Text>
        <Button onClick={leave}>{session === undefined ? 'Sign in' : 'Go on'}</Button>
      </SessionPage>
    );
  return (
    <SessionPage title="Accept the invitation">
      <form
        onSubmit={form.onSubmit((values) => {
          if (session === undefined && values.password !== values.again)
            return form.setErrors({ again: 'This is another password than the one above.' });
          accept.mutate(values);
        })}
      >
        <Stack>
          {session === undefined ? (
            <>
              <TextInput
                label="Your name"
                autoComplete="name"
                required
                autoFocus
                {...form.getInputProps('name')}
              />
              <PasswordInput
                label="A password"
                description="At least 12 characters"
                autoComplete="new-password"
                required
                {...form.getInputProps('password')}
              />
              <PasswordInput
                label="The password again"
                autoComplete="new-password"
                required
                {...form.getInputProps('again')}
              />
              <Text size="sm" c="dimmed">
                You have signed in here before? Sign in first, then open the link of the invitation again.
              </Text>
            </>
          ) : (
            <Text>
              You are signed in as {session.name} ({session.email}).
            </Text>
          )}
          {accept.error !== null && <Failure error={accept.error} />}
          <Button type="submit" loading={accept.isPending}>
            Accept
          </Button>
          <Button variant="subtle" onClick={leave}>
            Not now
          </Button>
        </Stack>
      </form>
    </SessionPage>
  );
}
