import { Alert } from '@mantine/core';
import { ConnectionError, ServerError } from '@quittance/client';
import { IconHelpCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Whether something may have been done although no answer says so. */
export const isUnknown = (error: unknown): boolean =>
  error instanceof ServerError || (error instanceof ConnectionError && error.code !== 'not_connected');

/** Says what is not known, and what to do, when the answer to a request was lost. */
export const UnknownOutcome = ({ error, children }: { error: unknown; children: ReactNode }) =>
  isUnknown(error) ? (
    <Alert color="yellow" icon={<IconHelpCircle />} role="status">
      {children}
    </Alert>
  ) : null;
