import type { Payout, PayoutAttempt } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { Note, Section, WithNote } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { type Column, Rows, timeColumn } from '../../parts/table.tsx';
import { Amount, StateBadge, TransactionHash } from '../../parts/values.tsx';
import { REFRESH_MS } from '../../queries.ts';

const PENDING_MS = 4_000;

const columns: readonly Column<PayoutAttempt>[] = [
  {
    id: 'tx_hash',
    title: 'Transaction',
    render: ({ tx_hash: hash, explorer_url: url }) => <TransactionHash hash={hash} explorerUrl={url} />,
  },
  { id: 'status', title: 'State', render: ({ status }) => <StateBadge state={status} /> },
  {
    id: 'fee',
    title: 'Fee of the network',
    render: ({ fee_paid: paid, fee_max: max, fee_asset: asset, fee_rate: rate }) => (
      <WithNote note={rate && `${rate.value} ${rate.unit}`}>
        {paid === null && 'at most '}
        <Amount value={paid ?? max} asset={asset} />
      </WithNote>
    ),
  },
  timeColumn('sent_at', 'Sent'),
];

/** The transactions that were signed for a payout, and what became of each. Nothing while there is none. */
export function PayoutAttempts({ payout: { id, status, tx_hash: hash } }: { payout: Payout }) {
  const { data, error, refetch } = useRead(
    // Read again when the payout itself has changed.
    ['payouts', 'attempts', id, status, hash],
    (options) => quittance.payouts.attempts(id, options),
    {
      refetchInterval: status === 'pending' ? PENDING_MS : REFRESH_MS,
      placeholderData: (before) => before,
    },
  );
  if (error === null && (data === undefined || data.length === 0)) return null;
  return (
    <Section title="Transactions">
      <Failure error={error} onRetry={refetch} />
      <Rows rows={data ?? []} columns={columns} keyOf={({ attempt }) => attempt} minWidth={560} />
      {(data?.length ?? 0) > 1 && (
        <Note>
          At most one of them is ever mined. A newer one pays the network more, or takes the place of one that
          has expired.
        </Note>
      )}
    </Section>
  );
}
