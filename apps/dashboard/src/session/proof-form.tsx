import { Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { SignedIn } from '@quittance/client';
import { IconFingerprint } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Failure } from '../parts/failure.tsx';
import { ME, queries } from '../queries.ts';
import { hasPasskeys } from './passkey-browser.ts';
import { useSession } from './session.ts';

type Props = {
  byPassword(proof: { password: string; code?: string }): Promise<SignedIn>;
  byPasskey(): Promise<SignedIn>;
  onProof(session: SignedIn): void;
};

/** Asks somebody who has signed in for the proof once more: the password with a code where one is set up, or a passkey. */
export function ProofForm({ byPassword, byPasskey, onProof }: Props) {
  const { second_factor: factor, passkeys } = useSession();
  const form = useForm({ initialValues: { password: '', code: '' } });
  const prove = useMutation({
    mutationFn: (by: 'passkey' | { password: string; code?: string }) =>
      by === 'passkey' ? byPasskey() : byPassword(by),
    onSuccess: (session) => {
      queries.setQueryData(ME, session);
      onProof(session);
    },
  });
  return (
    <>
      <form
        onSubmit={form.onSubmit(({ password, code }) =>
          prove.mutate(factor.totp ? { password, code: code.trim() } : { password }),
        )}
      >
        <Stack>
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            data-autofocus
            required
            {...form.getInputProps('password')}
          />
          {factor.totp && (
            <TextInput
              label="Code of your app"
              autoComplete="one-time-code"
              required
              {...form.getInputProps('code')}
            />
          )}
          <Failure error={prove.error} />
          <Button type="submit" loading={prove.isPending}>
            Go on
          </Button>
        </Stack>
      </form>
      {passkeys > 0 && hasPasskeys() && (
        <>
          <Divider label="or" />
          <Button
            variant="default"
            leftSection={<IconFingerprint size={18} />}
            onClick={() => prove.mutate('passkey')}
            disabled={prove.isPending}
          >
            With a passkey
          </Button>
        </>
      )}
    </>
  );
}
