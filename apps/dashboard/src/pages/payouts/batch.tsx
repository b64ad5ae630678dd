import { Alert, Paper, Select, Stack, Text } from '@mantine/core';
import type { PayoutBatch } from '@quittance/client';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ButtonLink, Facts, Loaded, Page, PageLink, usePageId, WithNote } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { type Column, PagedRows, textColumn } from '../../parts/table.tsx';
import { Copyable, StateBadge, Time } from '../../parts/values.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { BatchTotals, lineStatuses, modeNames } from './batch-totals.tsx';

const UNDECIDED_MS = 2_000;

type Line = PayoutBatch['lines'][number];

const columns: readonly Column<Line>[] = [
  textColumn('line', 'Line'),
  { id: 'status', title: 'Status', render: ({ status }) => <StateBadge state={status} /> },
  { id: 'end', title: 'Payout, or what is wrong', render: (line) => <LineEnd line={line} /> },
];

function LineEnd({ line: { payout_id: payout, errors = {}, message, hint } }: { line: Line }) {
  if (payout !== undefined) return <PageLink to={`/payouts/${payout}`}>{payout}</PageLink>;
  const texts = Object.entries(errors).map(([field, problems]) => `${field}: ${problems.join(' ')}`);
  return (
    <WithNote width={160} note={hint}>
      {(texts.length === 0 ? [message ?? ''] : texts).map((text) => (
        <Text size="sm" key={text}>
          {text}
        </Text>
      ))}
    </WithNote>
  );
}

/** One batch: how each of its lines ended. */
export function RoutePage() {
  const id = usePageId();
  const query = useRead(['payout-batches', id], (options) => quittance.payoutBatches.retrieve(id, options), {
    refetchInterval: ({ state }) => ((state.data?.totals.undecided ?? 0) > 0 ? UNDECIDED_MS : REFRESH_MS),
  });
  return (
    <Page
      title="Payout batch"
      back={{ to: '/payout-batches', label: 'Batches' }}
      actions={
        <ButtonLink to="/payouts" search={{ batch_id: id }}>
          Its payouts
        </ButtonLink>
      }
    >
      <Loaded query={query}>
        {({ mode, totals, lines, created_at: at }) => (
          <Stack>
            <Paper withBorder p="md">
              <Facts
                facts={{
                  Id: <Copyable text={id} label="Copy the id" />,
                  Created: <Time at={at} />,
                  Mode: modeNames[mode],
                  Lines: totals.lines,
                  'What became of them': <BatchTotals totals={totals} />,
                }}
              />
            </Paper>
            {totals.created < totals.lines && totals.undecided === 0 && (
              <Alert color="yellow" title={`${totals.lines - totals.created} lines were not paid`}>
                Send them in another batch, without the lines that were created: those exist already.
              </Alert>
            )}
            <Lines lines={lines} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  const [status, setStatus] = useState<string | null>(null);
  const known = lineStatuses.filter((one) => lines.some((line) => line.status === one));
  return (
    <Stack gap="xs">
      {known.length > 1 && (
        <Select label="Status" data={[...known]} value={status} onChange={setStatus} clearable w={170} />
      )}
      <PagedRows
        key={status}
        rows={lines.filter((line) => status === null || line.status === status)}
        columns={columns}
        keyOf={({ line }) => line}
      />
    </Stack>
  );
}
