import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { Invoice, Refund, UnresolvedFunds } from '@quittance/client';
import { Link } from '@tanstack/react-router';
import { Amount } from '../../parts/amount.tsx';
import { Section } from '../../parts/section.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { TransactionHash } from '../../parts/transaction-hash.tsx';
import { CancelRefund } from '../refunds/cancel-refund.tsx';

/** The transactions that have paid an invoice. */
export function Payments({ invoice }: { invoice: Invoice }) {
  const { payments, payments_total: total, asset } = invoice;
  return (
    <Section title="Payments">
      {payments.length === 0 ? (
        <Text size="sm" c="dimmed">
          No payment was seen.
        </Text>
      ) : (
        payments.map((payment) => (
          <Stack key={`${payment.tx_hash} ${payment.output_index} ${payment.first_seen_at}`} gap={2}>
            <Group gap="xs">
              <Amount
                value={payment.amount}
                asset={payment.asset ?? asset?.symbol ?? ''}
                size="sm"
                fw={600}
              />
              <StateBadge {...badgeOf(payment)} />
              <Text size="sm" c="dimmed">
                {payment.status === 'pending'
                  ? `${payment.confirmations} of ${payment.required_confirmations} confirmations`
                  : `${payment.confirmations} confirmations`}
              </Text>
            </Group>
            <Group gap="xs">
              <TransactionHash hash={payment.tx_hash} explorerUrl={payment.explorer_url} />
              <Text size="sm" c="dimmed">
                seen <Time at={payment.first_seen_at} />
              </Text>
            </Group>
          </Stack>
        ))
      )}
      {total !== undefined && (
        <Text size="sm" c="dimmed">
          These are {payments.length} of {total} payments.
        </Text>
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
            <Anchor component={Link} to={`/payouts/${refund.payout_id}`} size="sm">
              Payout
            </Anchor>
          )}
          <Text size="sm" c="dimmed">
            <Time at={refund.created_at} />
          </Text>
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
      <Stack gap="xs">
        {funds.map(({ id, amount, asset, status }) => (
          <Text key={id} size="sm" component="div">
            <Amount value={amount} asset={asset.symbol} /> <StateBadge state={status} />{' '}
            <Anchor component={Link} to={`/unresolved/${id}`} inherit>
              {status === 'open' ? 'Accept or return' : 'Show'}
            </Anchor>
          </Text>
        ))}
      </Stack>
    </Section>
  );
}
