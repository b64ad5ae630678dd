import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useStepUp } from '../session/step-up.tsx';
import { StepUpCancelled } from '../session/step-up-cancelled.ts';
import { Failure } from './failure.tsx';

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
  const run = useMutation({
    mutationFn: () => stepUp(act),
    onSuccess: async () => {
      close();
      await onDone?.();
    },
    onError: (error) => {
      if (error instanceof StepUpCancelled) close();
    },
  });
  return (
    <>
      <Button
        variant="default"
        {...button}
        onClick={() => {
          run.reset();
          open();
        }}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} size="md">
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          {run.error !== null && <Failure error={run.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Not now
            </Button>
            <Button color={button.color ?? 'red'} loading={run.isPending} onClick={() => run.mutate()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
