import { showAddress } from '@quittance/chains/registry';
import { assets, reducedAsset } from '@quittance/shared/assets';
import type { RequestOf } from '@quittance/shared/commands';
import type { PayloadOf } from '@quittance/shared/events';
import { type Answer, answers } from '@quittance/shared/http-answers';
import type { ActorId, PayoutId } from '@quittance/shared/ids';
import {
  formatCents,
  formatRate,
  formatUnits,
  parseRate,
  type Units,
  units,
  unitsToUsd,
} from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { approvalState } from './domain/approval.ts';
import { shownAs } from './domain/states.ts';
import type { PayoutQuote } from './payout-order.ts';
import type { Halt } from './store/halts.ts';
import type { Payout } from './store/payouts.ts';

/** A payout as the list, a single read and the events show it. */
export function payoutView(payout: Payout) {
  const { decimals, chain } = assets[payout.asset];
  const { amount, networkFee } = payout;
  const status = shownAs[payout.status];
  invariant(status !== null, 'a request that is no payout is not shown');
  return {
    id: idOnTheWire(payout.id),
    type: 'payout' as const,
    amount: formatUnits(amount, decimals),
    tx_hash: payout.txHash,
    to_address: showAddress(chain, payout.address),
    status,
    failed_reason: payout.failedReason ?? '',
    approval: approvalView(payout),
    cancel_requested_at: payout.cancelRequestedAt?.toISOString() ?? null,
    created_at: payout.createdAt.toISOString(),
    completed_at: payout.completedAt?.toISOString() ?? null,
    failed_at: payout.failedAt?.toISOString() ?? null,
    asset: reducedAsset(payout.asset),
    network_fee: formatUnits(networkFee, decimals),
    total: formatUnits(units(amount + networkFee), decimals),
    ...usdView(payout),
    external_id: payout.externalId,
    metadata: payout.metadata,
    deposit_id: payout.returnsDeposit,
    batch_id: payout.batchId,
    automatic: payout.isAutomatic,
    refund_id: payout.refundId,
    invoice_id: payout.invoiceId,
  };
}

/** How a payout is approved; null of one that needs no approval. */
function approvalView(payout: Payout) {
  const { approvalsNeeded, approvals, approvalExpiresAt, madeBy } = payout;
  if (approvalsNeeded === null || approvalExpiresAt === null) return null;
  return {
    status: approvalState({ ...payout, approvalsNeeded }),
    needed: approvalsNeeded,
    given: approvals.map(({ token: actor, decision, at }) => ({ ...actorView(actor), decision, at })),
    requested_by: madeBy,
    expires_at: approvalExpiresAt.toISOString(),
  };
}

/** An API token or a person, by the beginning of its id. */
const actorView = (actor: ActorId) =>
  actor.startsWith('per_') ? { token_id: null, person_id: actor } : { token_id: actor, person_id: null };

/** The rate at the request, and the amount without the fee at this rate; null where no rate was stored. */
function usdView({ asset, amount, usdRate }: Pick<Payout, 'asset' | 'amount' | 'usdRate'>) {
  if (usdRate === null) return { usd_rate: null, usd_value: null };
  const rate = parseRate(usdRate);
  invariant(rate.ok, `the rate ${usdRate} has at most 18 decimals`);
  const value = unitsToUsd(amount, rate.value, assets[asset].decimals, 'down');
  return { usd_rate: formatRate(rate.value), usd_value: formatCents(value) };
}

/**
 * What a payout would cost. The fee of a payout is that of the moment of its request, so a quote promises nothing.
 * @param promised what open claim links promise of the balance
 */
export function quoteView(
  { asset: symbol, amount, networkFee, usdRate, address, asOf }: PayoutQuote,
  promised: Units,
) {
  const { decimals, chain } = assets[symbol];
  return {
    amount: formatUnits(amount, decimals),
    network_fee: formatUnits(networkFee, decimals),
    total: formatUnits(units(amount + networkFee), decimals),
    ...usdView({ asset: symbol, amount, usdRate }),
    promised_amount: formatUnits(promised, decimals),
    to_address: address && showAddress(chain, address),
    asset: reducedAsset(symbol),
    valid: { as_of: asOf.toISOString(), guaranteed: false as const },
  };
}

/** An asset of which nothing is paid out at the moment. */
export const haltView = ({ asset, haltedAt }: Halt) => ({
  asset: reducedAsset(asset),
  halted_at: haltedAt.toISOString(),
});

/** The body of the 201. */
export const createdView = (id: PayoutId) => ({
  message: 'Payout created successfully.',
  data: { id: idOnTheWire(id) },
});

/**
 * The answer to a payout that the balance does not cover.
 * @param available what the balance had, where the ledger said it
 */
export function insufficientBalance(
  { asset, amount, networkFee }: Pick<Payout, 'asset' | 'amount' | 'networkFee'>,
  available: Units | undefined,
): Answer {
  const text = (value: Units) => formatUnits(value, assets[asset].decimals);
  const has = available === undefined ? '' : `${text(available)} ${asset} is available and `;
  const needed = `${text(units(amount + networkFee))} ${asset} is needed`;
  return answers.insufficientBalance(`${has}${needed}: ${text(amount)} and ${text(networkFee)} network fee.`);
}

/** What is answered when the ledger refuses to refund a deposit. */
export const refusedView = {
  already_accepted: answers.alreadyResolved('accepted'),
  used_for_recovery: answers.conflict(
    'A part of these funds repaid a loss: accept what is left, and pay it out from the balance.',
  ),
} as const;

/** A payout in the events for webhooks. */
export const eventView = (payout: Payout): PayloadOf<'payout.created'> => ({
  account_id: payout.account,
  resource_id: payout.id,
  version: payout.version,
  data: payoutView(payout),
});

/**
 * What the ledger is asked to hold for a payout; one that takes all says so beside it.
 * @param proof the request that asks for it; null where a former release has kept none
 */
export const holdRequest = (
  payout: Payout,
  requestId: string,
  proof: RequestOf<'hold.place'>['proof'] | null,
): RequestOf<'hold.place'> => ({
  request_id: requestId,
  payout_id: payout.id,
  account_id: payout.account,
  asset: payout.asset,
  amount: payout.amount.toString(),
  network_fee: payout.networkFee.toString(),
  deposit_id: payout.returnsDeposit,
  invoice_id: payout.invoiceId,
  destination: payout.address,
  ...(proof !== null && { proof }),
});

/** The event for the ledger that undoes the hold of a request. */
export const voidEvent = ({ id, account, asset }: Pick<Payout, 'id' | 'account' | 'asset'>) =>
  ({ kind: 'hold.void', payload: { payout_id: id, account_id: account, asset } }) as const;

/** A payout's end in the events for the ledger. */
export const outcomeView = (payout: Payout): PayloadOf<'hold.settle'> => ({
  payout_id: payout.id,
  account_id: payout.account,
  asset: payout.asset,
  amount: payout.amount.toString(),
  network_fee: payout.networkFee.toString(),
  tx_hash: payout.txHash,
});

export const idOnTheWire = (id: PayoutId): number => Number(id); // eslint-disable-line no-restricted-syntax -- an id below 2^53
