import { Alert } from '@mantine/core';
import { IconHelpCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { isOutcomeUnknown } from './outcome.ts';

/** Says what is not known, and what to do, when the answer to a request was lost. */
export const UnknownOutcome = ({ error, children }: { error: unknown; children: ReactNode }) =>
  isOutcomeUnknown(error) ? (
    <Alert color="yellow" icon={<IconHelpCircle />} role="status">
      {children}
    </Alert>
  ) : null;
