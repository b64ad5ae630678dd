import { Alert, Anchor, Button, Paper, Select, Stack, Table, Text } from '@mantine/core';
import type { PayoutBatch } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { usePageId } from '../../parts/page-id.ts';
import { PagedRows } from '../../parts/paged-rows.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { BatchTotals, lineStatuses, modeNames } from './batch-totals.tsx';

const UNDECIDED_MS = 2_000;

/** One batch: how each of its lines ended. */
export function RoutePage() {
  const id = usePageId();
  const query = useQuery({
    queryKey: ['payout-batches', 'one', id],
    queryFn: ({ signal }) => quittance.payoutBatches.retrieve(id, { signal }),
    refetchInterval: ({ state }) => ((state.data?.totals.undecided ?? 0) > 0 ? UNDECIDED_MS : REFRESH_MS),
  });
  return (
    <Page
      title="Payout batch"
      back={{ to: '/payout-batches', label: 'Batches' }}
      actions={
        <Button component={Link} to="/payouts" search={{ batch_id: id } as never} variant="default">
          Its payouts
        </Button>
      }
    >
      <Loaded query={query}>
        {(batch) => (
          <Stack>
            <Paper withBorder p="md">
              <Facts
                facts={[
                  ['Id', <Copyable key="id" text={batch.id} label="Copy the id" />],
                  ['Created', <Time key="at" at={batch.created_at} />],
                  ['Mode', modeNames[batch.mode]],
                  ['Lines', batch.totals.lines],
                  ['What became of them', <BatchTotals key="totals" totals={batch.totals} />],
                ]}
              />
            </Paper>
            {batch.totals.created < batch.totals.lines && batch.totals.undecided === 0 && (
              <Alert
                color="yellow"
                title={`${batch.totals.lines - batch.totals.created} lines were not paid`}
              >
                Send them in another batch, without the lines that were created: those exist already.
              </Alert>
            )}
            <Lines lines={batch.lines} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

type Line = PayoutBatch['lines'][number];

function Lines({ lines }: { lines: readonly Line[] }) {
  const [status, setStatus] = useState<string | null>(null);
  const known = lineStatuses.filter((one) => lines.some((line) => line.status === one));
  const shown = lines.filter((line) => status === null || line.status === status);
  return (
    <Stack gap="xs">
      {known.length > 1 && (
        <Select label="Status" data={[...known]} value={status} onChange={setStatus} clearable w={170} />
      )}
      <PagedRows
        key={status}
        rows={shown}
        head={
          <Table.Tr>
            <Table.Th>Line</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Payout, or what is wrong</Table.Th>
          </Table.Tr>
        }
        row={(line) => (
          <Table.Tr key={line.line}>
            <Table.Td>{line.line}</Table.Td>
            <Table.Td>
              <StateBadge state={line.status} />
            </Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <LineEnd line={line} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Stack>
  );
}

function LineEnd({ line: { payout_id: payout, errors = {}, message, hint } }: { line: Line }) {
  if (payout !== undefined)
    return (
      <Anchor component={Link} to={`/payouts/${payout}`} size="sm">
        {payout}
      </Anchor>
    );
  const texts = Object.entries(errors).map(([field, problems]) => `${field}: ${problems.join(' ')}`);
  return (
    <>
      {(texts.length === 0 ? [message ?? ''] : texts).map((text) => (
        <Text size="sm" key={text}>
          {text}
        </Text>
      ))}
      {hint !== undefined && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </>
  );
}
