import { Modal, Stack, Text } from '@mantine/core';
import { QuittanceError } from '@quittance/client';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { quittance } from '../client.ts';
import { passkeyAssertion } from './passkey-browser.ts';
import { ProofForm } from './proof-form.tsx';
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

const StepUpForm = ({ onShown }: { onShown(): void }) => (
  <Stack>
    <Text size="sm">This needs that you show again who you are. It then holds for ten minutes.</Text>
    <ProofForm
      byPassword={(proof) => quittance.sessions.stepUp(proof)}
      byPasskey={async () =>
        quittance.sessions.stepUpWithPasskey(await passkeyAssertion(await quittance.sessions.stepUpOptions()))
      }
      onProof={onShown}
    />
  </Stack>
);
