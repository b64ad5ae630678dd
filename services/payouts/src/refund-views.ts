import { assets, reducedAsset } from '@quittance/shared/assets';
import type { PayloadOf } from '@quittance/shared/events';
import { formatFiat, formatUnits } from '@quittance/shared/money';
import type { RefundState } from './domain/refund.ts';
import type { StoredRefund } from './store/refund-rows.ts';

/** The state that is shown: a link whose time is over has expired, also before a worker has stored it. */
export const shownState = (
  { state, expiresAt }: Pick<StoredRefund, 'state' | 'expiresAt'>,
  now: Date,
): RefundState => (state === 'claimable' && expiresAt !== null && expiresAt <= now ? 'expired' : state);

/** A new refund has neither a version nor met a balance that does not cover it. */
type ShownRefund = Omit<StoredRefund, 'version' | 'unfundedSince'> &
  Partial<Pick<StoredRefund, 'unfundedSince'>>;

/** A refund as the list and a single read show it. */
export function refundView(refund: ShownRefund, now: Date) {
  const { decimals } = assets[refund.asset];
  return {
    id: refund.id,
    status: shownState(refund, now),
    invoice_id: refund.invoiceId,
    deposit_id: refund.depositId,
    requested: refund.requested,
    currency: refund.currency,
    amount_fiat: refund.worth === null ? null : formatFiat(refund.worth),
    rate: refund.rate,
    rates_now: refund.ratesNow,
    amount: formatUnits(refund.amount, decimals),
    share: formatUnits(refund.share, decimals),
    asset: reducedAsset(refund.asset),
    // eslint-disable-next-line no-restricted-syntax -- an id below 2^53
    payout_id: refund.payoutId === null ? null : Number(refund.payoutId),
    external_id: refund.externalId,
    metadata: refund.metadata,
    expires_at: refund.expiresAt?.toISOString() ?? null,
    unfunded_since: refund.unfundedSince?.toISOString() ?? null,
    created_at: refund.createdAt.toISOString(),
  };
}

/** A refund in the events for webhooks. */
export const refundEventView = (refund: StoredRefund): PayloadOf<'refund.expired'> => ({
  account_id: refund.account,
  resource_id: refund.id,
  version: refund.version,
  data: refundView(refund, refund.createdAt),
});

/**
 * The body of the 201.
 * @param claimUrl the claim link; null where there is none, and in the answer that is stored
 */
export const createdRefundView = (refund: ShownRefund, claimUrl: string | null) => ({
  message: 'Refund created successfully.',
  data: { ...refundView(refund, refund.createdAt), claim_url: claimUrl },
});
