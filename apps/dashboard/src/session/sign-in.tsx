import { Alert, Anchor, Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { AuthenticationError, type SignIn as Proof, QuittanceError } from '@quittance/client';
import { IconFingerprint } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { unboundClient } from '../client.ts';
import { Failure } from '../parts/failure.tsx';
import { Note } from '../parts/page.tsx';
import { ME, queries } from '../queries.ts';
import { hasPasskeys, passkeyAssertion } from './passkey-browser.ts';
import { SessionPage } from './session-page.tsx';

/** By password and code, or by a passkey. */
export function SignIn({ hasEnded }: { hasEnded: boolean }) {
  const [asksCode, setAsksCode] = useState(false);
  const form = useForm({ initialValues: { email: '', password: '', code: '' } });
  const signIn = useMutation({
    mutationFn: (proof: Proof) => unboundClient.sessions.signIn(proof),
    onError: (error) => {
      if (error instanceof QuittanceError && error.code === 'second_factor_needed') setAsksCode(true);
    },
    onSuccess: (session) => queries.setQueryData(ME, session),
  });
  const passkey = useMutation({
    mutationFn: async () =>
      unboundClient.sessions.signInWithPasskey({
        credential: await passkeyAssertion(await unboundClient.sessions.passkeyOptions()),
      }),
    onSuccess: (session) => queries.setQueryData(ME, session),
  });
  const error = passkey.error ?? signIn.error;
  // Until a code was given, its absence is the next step and no failure.
  const isFirstAsk = asksCode && form.values.code === '' && error instanceof AuthenticationError;
  return (
    <SessionPage title="Sign in">
      {hasEnded && <Alert color="yellow">Your session has ended. Sign in to go on where you were.</Alert>}
      <form
        onSubmit={form.onSubmit(({ email, password, code }) => {
          passkey.reset();
          signIn.mutate(code.trim() === '' ? { email, password } : { email, password, code: code.trim() });
        })}
      >
        <Stack>
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          {asksCode && (
            <TextInput
              label="Code of your app"
              description="Six digits, or one of your recovery codes"
              autoComplete="one-time-code"
              autoFocus
              required
              {...form.getInputProps('code')}
            />
          )}
          {error !== null && !isFirstAsk && <Failure error={error} />}
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
        </Stack>
      </form>
      {hasPasskeys() && (
        <>
          <Divider label="or" />
          <Button
            variant="default"
            leftSection={<IconFingerprint size={18} />}
            loading={passkey.isPending}
            onClick={() => passkey.mutate()}
          >
            Sign in with a passkey
          </Button>
        </>
      )}
      <Note>
        No account yet, or the password is lost? The operator of this installation invites people, and resets
        what they sign in with. <Anchor href="/docs/api#people">How people sign in</Anchor>
      </Note>
    </SessionPage>
  );
}
