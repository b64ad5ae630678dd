import { Button, Stack, Text } from '@mantine/core';
import type { OperatedDeadLetter } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { Loaded, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { ByCommand, Part, Rows, Shortened, type TableColumn, useOperated } from './operator-parts.tsx';

/** Events that a service failed to process. They have had no effect yet. */
export function RoutePage() {
  const query = useOperated('dead-letters', (options) => quittance.operator.deadLetters(options));
  return (
    <Page title="Dead letters">
      <Loaded query={query}>
        {(found) => (
          <Stack gap="xl">
            <Part
              title="Events without their effect"
              text="A service failed to process them. Correct the cause, then have them sent again: a service that has processed one drops it. The oldest 200 are shown."
            >
              <Rows
                rows={found}
                columns={columns}
                keyOf={({ service, event }) => `${service} ${event}`}
                empty="Every event was processed"
              />
            </Part>
            <ByCommand
              commands={[
                ['Send all of them again:', 'dead-letters retry --all'],
                [
                  'An event that is older than the inbox, when you have checked that its effect does not exist:',
                  'dead-letters retry EVENT --not-processed',
                ],
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Retry({ letter }: { letter: OperatedDeadLetter }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const retry = useMutation({
    mutationFn: () => stepUp(() => quittance.operator.retryDeadLetter(letter)),
    onSettled: () => client.invalidateQueries({ queryKey: ['operator', 'dead-letters'] }),
  });
  if (!letter.can_be_sent_again)
    return (
      <Text size="sm" c="dimmed" miw={110}>
        no service has sent it
      </Text>
    );
  return (
    <Stack gap="xs">
      <Button size="xs" variant="light" onClick={() => retry.mutate()} loading={retry.isPending}>
        Send again
      </Button>
      {retry.error !== null && <Failure error={retry.error} />}
    </Stack>
  );
}

const columns: readonly TableColumn<OperatedDeadLetter>[] = [
  { title: 'Service', render: ({ service }) => service },
  {
    title: 'Event',
    render: ({ kind }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }} miw={120}>
        {kind}
      </Text>
    ),
  },
  { title: 'Send again', render: (letter) => <Retry letter={letter} /> },
  {
    title: 'Why',
    render: ({ failure }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }} miw={220} lineClamp={4}>
        {failure}
      </Text>
    ),
  },
  { title: 'Since', render: ({ failed_at }) => <Time at={failed_at} /> },
  { title: 'Id', render: ({ event }) => <Shortened text={event} label="Copy the id" /> },
];
