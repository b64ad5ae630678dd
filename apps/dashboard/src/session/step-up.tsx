import { Button, Divider, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { QuittanceError } from '@quittance/client';
import { IconFingerprint } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { quittance } from '../client.ts';
import { Failure } from '../parts/failure.tsx';
import { ME } from '../queries.ts';
import { hasPasskeys, passkeyAssertion } from './passkey-browser.ts';
import { useSession } from './session.ts';
import { StepUpCancelled } from './step-up-cancelled.ts';

type Waiting = { resolve(): void; reject(error: Error): void };

const StepUpContext = createContext<(() => Promise<void>) | undefined>(undefined);

/**
 * Runs what may need a step-up: when the API asks for one, a dialog asks for the password or a passkey, and the same is run
 * again. The API has done nothing before.
 * @throws StepUpCancelled when the dialog was closed
 */
export function useStepUp(): <T>(act: () => Promise<T>) => Promise<T> {
  const ask = useContext(StepUpContext);
  return useCallback(
    async (act) => {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof QuittanceError) || error.code !== 'step_up_needed' || ask === undefined)
          throw error;
        await ask();
        return await act();
      }
    },
    [ask],
  );
}

export function StepUpProvider({ children }: { children: ReactNode }) {
  const [waiting, setWaiting] = useState<Waiting>();
  const ask = useCallback(
    () =>
      new Promise<void>((resolve, reject) => {
        setWaiting({ resolve, reject });
      }),
    [],
  );
  const end = (how: 'shown' | 'cancelled') => {
    if (how === 'shown') waiting?.resolve();
    else waiting?.reject(new StepUpCancelled('Nothing was done.'));
    setWaiting(undefined);
  };
  return (
    <StepUpContext.Provider value={ask}>
      {children}
      <Modal opened={waiting !== undefined} onClose={() => end('cancelled')} title="Is it you?">
        {waiting !== undefined && <StepUpForm onShown={() => end('shown')} />}
      </Modal>
    </StepUpContext.Provider>
  );
}

function StepUpForm({ onShown }: { onShown(): void }) {
  const client = useQueryClient();
  const { second_factor: factor, passkeys } = useSession();
  const form = useForm({ initialValues: { password: '', code: '' } });
  const prove = useMutation({
    mutationFn: (by: 'passkey' | { password: string; code?: string }) =>
      by === 'passkey'
        ? quittance.sessions
            .stepUpOptions()
            .then(passkeyAssertion)
            .then((credential) => quittance.sessions.stepUpWithPasskey(credential))
        : quittance.sessions.stepUp(by),
    onSuccess: (session) => {
      client.setQueryData(ME, session);
      onShown();
    },
  });
  return (
    <Stack>
      <Text size="sm">This needs that you show again who you are. It then holds for ten minutes.</Text>
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
          {prove.error !== null && <Failure error={prove.error} />}
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
    </Stack>
  );
}
