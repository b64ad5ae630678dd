import { Alert, Button, type ButtonProps, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useLayoutEffect } from 'react';
import { useStepUp } from '../session/step-up.tsx';
import { Failure } from './failure.tsx';
import { Copyable } from './values.tsx';

type ConfirmButtonProps = ButtonProps & {
  /** On the button, and on the one that confirms: `Revoke`. */
  label: string;
  /** On the one that confirms, where it says more. */
  confirm?: string;
  'aria-label'?: string;
  title: string;
  /** What happens then, and what cannot be undone. */
  children: ReactNode;
  /** Runs after the confirmation, with a step-up where the API asks for one. */
  act(): Promise<unknown>;
  onDone?(): unknown;
};

/** A button whose action is confirmed in a dialog, which stays open with what went wrong. */
export function ConfirmButton({
  label,
  confirm = label,
  title,
  children,
  act,
  onDone,
  ...button
}: ConfirmButtonProps) {
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
          button={confirm}
          color="red"
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

type ConfirmDialogProps = {
  title: string;
  children: ReactNode;
  /** What the button says. */
  button: string;
  color?: string | undefined;
  size?: ModalProps['size'];
  /** Does it. The dialog stays until it is done. */
  act(): Promise<unknown>;
  onClose(): void;
};

/** Asks before something is done that cannot be undone. Shown while it is rendered. */
export function ConfirmDialog({ title, children, button, color, size, act, onClose }: ConfirmDialogProps) {
  useFocusReturn();
  const { mutate, isPending, error } = useMutation({ mutationFn: act, onSuccess: onClose });
  return (
    <Modal opened onClose={onClose} title={title} size={size} {...lockedModal(isPending)}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        <Failure error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isPending} data-autofocus>
            Back
          </Button>
          <Button color={color} loading={isPending} onClick={() => mutate()}>
            {button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Gives the focus back to what had it before a dialog that is rendered only while it is open: Mantine does so for the others. */
export function useFocusReturn(): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => {
      // Not where another dialog has come in its place.
      setTimeout(() => {
        if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
      });
    };
  }, []);
}

/** Of a dialog that stays until what it sends is answered, or what it shows this once is kept: no way out but its buttons. */
export const lockedModal = (isLocked: boolean) => ({
  closeOnClickOutside: !isLocked,
  closeOnEscape: !isLocked,
  withCloseButton: !isLocked,
});

type ShownOnceProps = {
  title: string;
  /** Undefined: nothing is shown. */
  secret: string | undefined;
  copyLabel: string;
  children?: ReactNode;
  onClose(): void;
};

/** A secret that the API tells this once. It leaves by the button alone, not by a press beside the dialog or Esc. */
export const ShownOnce = ({ title, secret, copyLabel, children, onClose }: ShownOnceProps) => (
  <Modal opened={secret !== undefined} onClose={onClose} title={title} size="lg" {...lockedModal(true)}>
    {secret !== undefined && (
      <Stack>
        <Alert color="yellow">
          It is shown this once, and stored nowhere. Keep it where secrets are kept.
        </Alert>
        <Copyable text={secret} label={copyLabel} />
        {children !== undefined && (
          <Text size="sm" component="div">
            {children}
          </Text>
        )}
        <Button onClick={onClose} data-autofocus>
          I have kept it
        </Button>
      </Stack>
    )}
  </Modal>
);

type DialogProps<Answer> = Omit<ButtonProps, 'children'> & {
  label: string;
  title?: string;
  dialogSize?: ModalProps['size'];
  /** What is typed is not lost by a press beside the dialog. */
  isKept?: true;
  /** What is in the dialog, which it closes, with an answer when something was done. */
  children(close: (answer?: Answer) => void): ReactNode;
  onDone?(answer: Answer): void;
};

/** A button that opens a dialog. What is in the dialog is empty again each time. */
export function DialogButton<Answer>(props: DialogProps<Answer>) {
  const { label, title = label, dialogSize, isKept, children, onDone, ...button } = props;
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={title}
        size={dialogSize}
        closeOnClickOutside={isKept === undefined}
      >
        {children((answer) => {
          close();
          if (answer !== undefined) onDone?.(answer);
        })}
      </Modal>
    </>
  );
}
