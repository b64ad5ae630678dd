import { getDefaultZIndex, Modal, Stack, Text } from '@mantine/core';
import { QuittanceError } from '@quittance/client';
import { createContext, type ReactNode, useCallback, useContext, useLayoutEffect, useState } from 'react';
import { quittance } from '../client.ts';
import { passkeyAssertion } from './passkey-browser.ts';
import { ProofForm } from './proof-form.tsx';
import { StepUpWait } from './step-up-wait.ts';

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
  const [isWaiting, setIsWaiting] = useState(false);
  const [wait] = useState(() => new StepUpWait(setIsWaiting));
  const ask = useCallback(() => wait.ask(), [wait]);
  // Esc is for this dialog alone, not for one below it. Dialogs listen to the window too, but from a later effect.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || !wait.isWaiting) return;
      event.stopImmediatePropagation();
      wait.end('cancelled');
    };
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  }, [wait]);
  return (
    <StepUpContext.Provider value={ask}>
      {children}
      <Modal
        opened={isWaiting}
        onClose={() => wait.end('cancelled')}
        closeOnEscape={false}
        // What asks for it is often a dialog, which comes later into the document and would cover it.
        zIndex={getDefaultZIndex('modal') + 1}
        title="Is it you?"
      >
        {isWaiting && <StepUpForm onShown={() => wait.end('shown')} />}
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
