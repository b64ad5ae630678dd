import { Stack, Text } from '@mantine/core';
import type { OperatedChain, OperatedRescan } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Loaded, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { durationOf } from './durations.ts';
import { ByCommand, Mark, Part, Rows, type TableColumn, useOperated } from './operator-parts.tsx';

/** How far each chain is read, and whether its nodes can be believed. */
export function RoutePage() {
  const query = useOperated('chains', (options) => quittance.operator.chains(options));
  return (
    <Page title="Chains">
      <Loaded query={query}>
        {({ chains, rescans }) => (
          <Stack gap="xl">
            <Part
              title="Progress"
              text="While a chain is late, invoices on it do not expire. The height of a node is known to the replica that reads the chain."
            >
              <Rows
                rows={chains}
                columns={chainColumns}
                keyOf={({ chain }) => chain}
                empty="No chain is configured"
              />
            </Part>
            <Part title="Read again">
              <Rows
                rows={rescans}
                columns={rescanColumns}
                keyOf={({ id }) => id}
                empty="Nothing was read again"
              />
            </Part>
            <ByCommand
              commands={[
                [
                  'Read the blocks of a chain again, to find payments that were missed:',
                  'rescan ethereum --from 21350000',
                ],
                [
                  'Resume signing after an unknown transaction of a hot wallet:',
                  'signing resume ethereum --nonce 17',
                ],
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

const chainColumns: readonly TableColumn<OperatedChain>[] = [
  { title: 'Chain', render: ({ chain }) => chain },
  { title: 'State', render: ({ is_late }) => <Mark good={!is_late} label={is_late ? 'late' : 'on time'} /> },
  { title: 'Height', align: 'right', render: ({ height }) => height ?? '—' },
  { title: 'Node', align: 'right', render: ({ node_height }) => node_height ?? '—' },
  {
    title: 'Synced',
    render: ({ lag_seconds }) => (lag_seconds === null ? 'never' : `${durationOf(lag_seconds)} ago`),
  },
  { title: 'Last block', render: ({ block_at }) => <Time at={block_at} /> },
  {
    title: 'Nodes left out',
    align: 'right',
    render: ({ nodes_left_out }) => (nodes_left_out === null ? 'one node' : nodes_left_out),
  },
  {
    title: 'Problems',
    render: ({ problems, contradictions }) =>
      problems.length === 0 && contradictions === 0 ? (
        'none'
      ) : (
        <>
          {problems.map((problem) => (
            <Text size="sm" c="red" key={problem}>
              waits for {problem}
            </Text>
          ))}
          {contradictions > 0 && (
            <Text size="sm" c="red">
              {contradictions} payments about which its node contradicts itself
            </Text>
          )}
        </>
      ),
  },
];

const rescanColumns: readonly TableColumn<OperatedRescan>[] = [
  { title: 'Chain', render: ({ chain }) => chain },
  { title: 'From', align: 'right', render: ({ from_height }) => from_height },
  { title: 'Next', align: 'right', render: ({ next_height }) => next_height },
  { title: 'Until', align: 'right', render: ({ until_height }) => until_height ?? '—' },
  { title: 'Found', align: 'right', render: ({ found }) => found },
  { title: 'Asked for', render: ({ asked_at }) => <Time at={asked_at} /> },
  {
    title: 'State',
    render: ({ ended_at, failure }) => failure ?? (ended_at === null ? 'running' : 'done'),
  },
];
