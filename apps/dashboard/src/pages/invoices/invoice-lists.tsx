import { Group, Stack, Text } from '@mantine/core';
import type { Invoice, Refund, UnresolvedFunds } from '@quittance/client';
import { Note, PageLink, Section } from '../../parts/page.tsx';
import { Amount, StateBadge, Time, TransactionHash } from '../../parts/values.tsx';
import { CancelRefund } from '../refunds/cancel-refund.tsx';

/** The transactions that have paid an invoice. */
export function Payments({ invoice: { payments, payments_total: total, asset } }: { invoice: Invoice }) {
  return (
    <Section title="Payments">
      {payments.length === 0 && <Note>No payment was seen.</Note>}
      {payments.map((payment) => (
        <Stack key={`${payment.tx_hash} ${payment.output_index} ${payment.first_seen_at}`} gap={2}>
          <Group gap="xs">
            <Amount value={payment.amount} asset={payment.asset ?? asset?.symbol ?? ''} size="sm" fw={600} />
            <StateBadge {...badgeOf(payment)} />
            <Note>
              {payment.confirmations}
              {payment.status === 'pending' && ` of ${payment.required_confirmations}`} confirmations
            </Note>
          </Group>
          <Group gap="xs">
            <TransactionHash hash={payment.tx_hash} explorerUrl={payment.explorer_url} />
            <Note>
              seen <Time at={payment.first_seen_at} />
            </Note>
          </Group>
        </Stack>
      ))}
      {total !== undefined && (
        <Note>
          These are {payments.length} of {total} payments.
        </Note>
      )}
    </Section>
  );
}

/** What merchants call final is `confirmed` of a payment, while it is not yet of an invoice. */
const badgeOf = ({ status }: Invoice['payments'][number]): { state: string; label?: string } => {
  if (status === 'confirmed') return { state: 'completed', label: 'final' };
  return status === 'reversed' ? { state: 'failed', label: 'taken back' } : { state: 'pending' };
};

export function Refunds({ refunds }: { refunds: readonly Refund[] }) {
  if (refunds.length === 0) return null;
  return (
    <Section title="Refunds">
      {refunds.map((refund) => (
        <Group key={refund.id} gap="xs">
          <Amount value={refund.amount} asset={refund.asset.symbol} size="sm" fw={600} />
          <StateBadge state={refund.status} />
          {refund.payout_id === null ? (
            <Text size="sm">by a claim link</Text>
          ) : (
            <PageLink to={`/payouts/${refund.payout_id}`}>Payout</PageLink>
          )}
          <Note>
            <Time at={refund.created_at} />
          </Note>
          <CancelRefund refund={refund} />
        </Group>
      ))}
    </Section>
  );
}

/** Funds of the invoice's address that are, or were, in no balance. */
export function UnresolvedOfInvoice({ funds }: { funds: readonly UnresolvedFunds[] }) {
  if (funds.length === 0) return null;
  return (
    <Section title="Unresolved funds">
      {funds.map(({ id, amount, asset, status }) => (
        <Text key={id} size="sm" component="div">
          <Amount value={amount} asset={asset.symbol} /> <StateBadge state={status} />{' '}
          <PageLink to={`/unresolved/${id}`}>{status === 'open' ? 'Accept or return' : 'Show'}</PageLink>
        </Text>
      ))}
    </Section>
  );
}
