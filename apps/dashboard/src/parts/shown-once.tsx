import { Alert, Button, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copyable } from './copyable.tsx';

type Props = {
  title: string;
  /** Undefined: nothing is shown. */
  secret: string | undefined;
  copyLabel: string;
  children?: ReactNode;
  onClose(): void;
};

/** A secret that the API tells this once. It leaves by the button alone, not by a press beside the dialog or Esc. */
export const ShownOnce = ({ title, secret, copyLabel, children, onClose }: Props) => (
  <Modal
    opened={secret !== undefined}
    onClose={onClose}
    title={title}
    size="lg"
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
  >
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
