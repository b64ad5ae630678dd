import { Alert, Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { QuittanceError } from '@quittance/client';
import { IconAlertCircle } from '@tabler/icons-react';
import { isPassing, textOf } from '../queries.ts';
import { StepUpCancelled } from '../session/step-up-wait.ts';

type Props = { error: unknown; onRetry?: () => unknown };

/** What went wrong and what to do, with the id that the operator finds it by. Nothing where nothing did. */
export function Failure({ error, onRetry }: Props) {
  if (error === null || error === undefined || error instanceof StepUpCancelled) return null;
  if (error instanceof DOMException)
    return (
      <Alert color="red" role="alert">
        {textOfBrowser(error)}
      </Alert>
    );
  const details = error instanceof QuittanceError ? error : undefined;
  return (
    <Alert color="red" icon={<IconAlertCircle />} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{textOf(error)}</Text>
        {(details?.requestId !== undefined || details?.docUrl !== undefined) && (
          <Group gap="xs">
            {details.docUrl !== undefined && (
              <Anchor size="xs" href={details.docUrl} target="_blank" rel="noreferrer">
                What this means
              </Anchor>
            )}
            {details.requestId !== undefined && (
              <Text size="xs" c="dimmed">
                Request <Code>{details.requestId}</Code>
              </Text>
            )}
          </Group>
        )}
        {onRetry !== undefined && (
          <Button size="xs" variant="light" onClick={() => void onRetry()}>
            {isPassing(error) ? 'Try again' : 'Load again'}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

const textOfBrowser = ({ name, message }: DOMException): string =>
  name === 'NotAllowedError'
    ? 'No passkey was used: it was cancelled, or this device has none for this page.'
    : name === 'InvalidStateError'
      ? 'This device has a passkey of yours already.'
      : message;
