import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { lockedModal } from './locked-modal.ts';

type Props = {
  title: string;
  children: ReactNode;
  /** What the button says. */
  button: string;
  /** Does it. The dialog stays until it is done. */
  act(): Promise<unknown>;
  onClose(): void;
};

/** Asks before something is done that cannot be undone. Shown while it is rendered. */
export function ConfirmDialog({ title, children, button, act, onClose }: Props) {
  const { mutate, isPending, error } = useMutation({ mutationFn: act, onSuccess: onClose });
  return (
    <Modal opened onClose={onClose} title={title} {...lockedModal(isPending)}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {error !== null && <Failure error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isPending} data-autofocus>
            Back
          </Button>
          <Button color="red" loading={isPending} onClick={() => mutate()}>
            {button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
