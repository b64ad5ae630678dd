import { Text } from '@mantine/core';
import type { OperatedChain, OperatedRescan } from '@quittance/client';
import { quittance } from '../../client.ts';
import { type Column, textColumn, timeColumn } from '../../parts/table.tsx';
import { durationOf } from './durations.ts';
import { Mark, OperatorPage, TablePart, useOperated } from './operator-parts.tsx';

const chainColumns: readonly Column<OperatedChain>[] = [
  textColumn('chain', 'Chain'),
  {
    id: 'is_late',
    title: 'State',
    render: ({ is_late }) => <Mark good={!is_late} label={is_late ? 'late' : 'on time'} />,
  },
  textColumn('height', 'Height', { align: 'right' }),
  textColumn('node_height', 'Node', { align: 'right' }),
  {
    id: 'lag_seconds',
    title: 'Synced',
    render: ({ lag_seconds: lag }) => (lag === null ? 'never' : `${durationOf(lag)} ago`),
  },
  timeColumn('block_at', 'Last block'),
  {
    id: 'nodes_left_out',
    title: 'Nodes left out',
    align: 'right',
    render: ({ nodes_left_out: count }) => count ?? 'one node',
  },
  { id: 'problems', title: 'Problems', render: problemsOf },
];

function problemsOf({ problems, contradictions }: OperatedChain) {
  const texts = problems.map((problem) => `waits for ${problem}`);
  if (contradictions > 0) texts.push(`${contradictions} payments about which its node contradicts itself`);
  if (texts.length === 0) return 'none';
  return texts.map((text) => (
    <Text size="sm" c="red" key={text}>
      {text}
    </Text>
  ));
}

const rescanColumns: readonly Column<OperatedRescan>[] = [
  textColumn('chain', 'Chain'),
  textColumn('from_height', 'From', { align: 'right' }),
  textColumn('next_height', 'Next', { align: 'right' }),
  textColumn('until_height', 'Until', { align: 'right' }),
  textColumn('found', 'Found', { align: 'right' }),
  timeColumn('asked_at', 'Asked for'),
  {
    id: 'state',
    title: 'State',
    render: ({ ended_at, failure }) => failure ?? (ended_at === null ? 'running' : 'done'),
  },
];

const commands = {
  'Read the blocks of a chain again, to find payments that were missed:': 'rescan ethereum --from 21350000',
  'Resume signing after an unknown transaction of a hot wallet:': 'signing resume ethereum --nonce 17',
};

/** How far each chain is read, and whether its nodes can be believed. */
export function RoutePage() {
  const query = useOperated('chains', (options) => quittance.operator.chains(options));
  return (
    <OperatorPage title="Chains" query={query} commands={commands}>
      {({ chains, rescans }) => (
        <>
          <TablePart
            title="Progress"
            text="While a chain is late, invoices on it do not expire. The height of a node is known to the replica that reads the chain."
            rows={chains}
            columns={chainColumns}
            keyOf={({ chain }) => chain}
            empty="No chain is configured"
          />
          <TablePart
            title="Read again"
            rows={rescans}
            columns={rescanColumns}
            keyOf={({ id }) => id}
            empty="Nothing was read again"
          />
        </>
      )}
    </OperatorPage>
  );
}
