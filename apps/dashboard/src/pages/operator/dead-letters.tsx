import { Button, Stack } from '@mantine/core';
import type { OperatedDeadLetter } from '@quittance/client';
import { useMutation } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { Note } from '../../parts/page.tsx';
import { type Column, textColumn, timeColumn } from '../../parts/table.tsx';
import { Shortened } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useStepUp } from '../../session/step-up.tsx';
import { Long, OperatorPage, TablePart, useOperated } from './operator-parts.tsx';

const columns: readonly Column<OperatedDeadLetter>[] = [
  textColumn('service', 'Service'),
  { id: 'kind', title: 'Event', render: ({ kind }) => <Long text={kind} width={120} /> },
  { id: 'retry', title: 'Send again', render: (letter) => <Retry letter={letter} /> },
  { id: 'failure', title: 'Why', render: ({ failure }) => <Long text={failure} width={220} lines={4} /> },
  timeColumn('failed_at', 'Since'),
  { id: 'event', title: 'Id', render: ({ event }) => <Shortened text={event} label="Copy the id" /> },
];

function Retry({ letter }: { letter: OperatedDeadLetter }) {
  const stepUp = useStepUp();
  const retry = useMutation({
    mutationFn: () => stepUp(() => quittance.operator.retryDeadLetter(letter)),
    onSettled: () => readAgain('operator'),
  });
  if (!letter.can_be_sent_again) return <Note miw={110}>no service has sent it</Note>;
  return (
    <Stack gap="xs">
      <Button size="xs" variant="light" onClick={() => retry.mutate()} loading={retry.isPending}>
        Send again
      </Button>
      <Failure error={retry.error} />
    </Stack>
  );
}

const commands = {
  'Send all of them again:': 'dead-letters retry --all',
  'An event that is older than the inbox, when you have checked that its effect does not exist:':
    'dead-letters retry EVENT --not-processed',
};

/** Events that a service failed to process. They have had no effect yet. */
export function RoutePage() {
  const query = useOperated('dead-letters', (options) => quittance.operator.deadLetters(options));
  return (
    <OperatorPage title="Dead letters" query={query} commands={commands}>
      {(found) => (
        <TablePart
          title="Events without their effect"
          text="A service failed to process them. Correct the cause, then have them sent again: a service that has processed one drops it. The oldest 200 are shown."
          rows={found}
          columns={columns}
          keyOf={({ service, event }) => `${service} ${event}`}
          empty="Every event was processed"
        />
      )}
    </OperatorPage>
  );
}
