import { Stack, Table, Text } from '@mantine/core';
import type { Payout, PayoutAttempt } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Amount } from '../../parts/amount.tsx';
import { Failure } from '../../parts/failure.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { TransactionHash } from '../../parts/transaction-hash.tsx';
import { REFRESH_MS } from '../../queries.ts';

const PENDING_MS = 4_000;

/** The transactions that were signed for a payout, and what became of each. Nothing while there is none. */
export function PayoutAttempts({ payout: { id, status, tx_hash: hash } }: { payout: Payout }) {
  const { data, error, refetch } = useQuery({
    // Read again when the payout itself has changed.
    queryKey: ['payouts', 'attempts', id, status, hash],
    queryFn: ({ signal }) => quittance.payouts.attempts(id, { signal }),
    refetchInterval: status === 'pending' ? PENDING_MS : REFRESH_MS,
    placeholderData: (before) => before,
  });
  if (error === null && (data === undefined || data.length === 0)) return null;
  return (
    <Section title="Transactions">
      {error !== null && <Failure error={error} onRetry={refetch} />}
      <ScrollTable minWidth={560}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Transaction</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Fee of the network</Table.Th>
            <Table.Th>Sent</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data?.map((attempt) => (
            <Table.Tr key={attempt.attempt}>
              <Table.Td>
                <TransactionHash hash={attempt.tx_hash} explorerUrl={attempt.explorer_url} />
              </Table.Td>
              <Table.Td>
                <StateBadge state={attempt.status} />
              </Table.Td>
              <Table.Td>
                <Fee attempt={attempt} />
              </Table.Td>
              <Table.Td>{attempt.sent_at === null ? '—' : <Time at={attempt.sent_at} />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
      {(data?.length ?? 0) > 1 && (
        <Text size="sm" c="dimmed">
          At most one of them is ever mined. A newer one pays the network more, or takes the place of one that
          has expired.
        </Text>
      )}
    </Section>
  );
}

function Fee({ attempt }: { attempt: PayoutAttempt }) {
  const { fee_paid: paid, fee_max: max, fee_asset: asset, fee_rate: rate } = attempt;
  return (
    <Stack gap={0}>
      <span>
        {paid === null && 'at most '}
        <Amount value={paid ?? max} asset={asset} />
      </span>
      {rate !== null && (
        <Text size="xs" c="dimmed">
          {rate.value} {rate.unit}
        </Text>
      )}
    </Stack>
  );
}
