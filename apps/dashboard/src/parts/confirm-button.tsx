import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useStepUp } from '../session/step-up.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';

type Props = ButtonProps & {
  /** On the button, and on the one that confirms: `Revoke`. */
  label: string;
  title: string;
  /** What happens then, and what cannot be undone. */
  children: ReactNode;
  /** Runs after the confirmation, with a step-up where the API asks for one. */
  act(): Promise<unknown>;
  onDone?(): unknown;
};

/** A button whose action is confirmed in a dialog, which stays open with what went wrong. */
export function ConfirmButton({ label, title, children, act, onDone, ...button }: Props) {
  const [isOpen, { open, close }] = useDisclosure();
  const stepUp = useStepUp();
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {label}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={title}
          button={label}
          act={async () => {
            await stepUp(act);
            await onDone?.();
          }}
          onClose={close}
        >
          {children}
        </ConfirmDialog>
      )}
    </>
  );
}
