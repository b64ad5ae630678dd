import { nativeAsset } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { PayoutId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { Units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import { type PayoutStatus, paidStatuses, transactionPhases } from '../domain/states.ts';
import type { ChainPorts } from '../ports.ts';
import { movePayout, type Payout, showPayoutSent } from '../store/payouts.ts';
import { invalidateAttempts, invalidateOtherAttempts, paymentsOf } from '../store/replacement-groups.ts';
import { moveTransaction, noteSent, type Transaction } from '../store/transactions.ts';
import { markSwept, markUnswept } from '../store/unswept-deposits.ts';
import { eventView, outcomeView } from '../views.ts';
import { payoutSpans } from './payout-spans.ts';

/** A sweep that the token refuses costs a fee, so it is not repeated at once. */
const SWEEP_AGAIN_AFTER_MS = 10 * 60_000;

const RECIPIENT_REFUSES =
  'The recipient address does not accept this payment. The amount and the network fee were returned to your balance.';
const REVERTED =
  'The recipient address did not accept the payment. The amount was returned to your balance, the network fee was spent.';
const NEVER_MINED =
  'The payment could not be sent: its transaction can never be confirmed. The amount and the network fee were returned to your balance.';

/**
 * Sends stored bytes, for the first time or again. Unless a node accepts them it is unknown whether they arrived, and
 * they are sent again until a block includes them.
 */
export async function sendTransaction(ports: ChainPorts, transaction: Transaction): Promise<void> {
  const { db, kind, chain, sender, clock, throttledLog, logger, tracer } = ports;
  const { id, group, purpose, txHash, wallet, nonce, raw } = transaction;
  const start = clock.now();
  const answer = await sender.broadcast(raw);
  failpoint(`${kind}.${purpose}s.sent`);
  const now = clock.now();
  const shown = await db.transaction(async (trx) => {
    await noteSent(trx, id, now);
    if (answer !== 'accepted') return [];
    const moved = await moveTransaction(trx, id, ['signed'], 'broadcast');
    if (moved === undefined) return [];
    const payouts = await payoutsOf(trx, group);
    for (const payout of payouts) await showPayoutSent(trx, payout, txHash);
    return payouts;
  });
  failpoint(`${kind}.${purpose}s.broadcast`);
  tracer.record(() => payoutSpans('payout broadcast', shown, { kind: 'client', start, end: now, chain }));
  const details = { chain, transaction: txHash, group, wallet, nonce, answer };
  if (answer === 'accepted') return logger.debug(details, 'sent');
  const message = 'the node did not accept a transaction, sending the same bytes again';
  throttledLog.log('warn', `broadcast.${wallet}.${answer}`, details, message);
}

/** Updates the tables of one kind of chain in the database transaction that ends a group. */
type Alongside = (trx: Trx) => Promise<void>;

/** `feePaid`: the whole cost in the chain's native asset; on Solana with the rent of accounts that it opened. */
type MinedOutcome = { height: number; blockHash: string; succeeded: boolean; feePaid: Units };

/**
 * Ends a group when one of its attempts has enough confirmations: its payouts or its sweep are completed, or have failed
 * for good, and its other attempts are invalid. False when it was settled before.
 */
export async function settleTransaction(
  ports: ChainPorts,
  lease: Lease,
  transaction: Transaction,
  ending: MinedOutcome,
  alongside?: Alongside,
): Promise<boolean> {
  const { db, kind, chain, clock, logger, tracer, wakeRelay } = ports;
  const { id, group, purpose, txHash, firstBroadcastAt, createdAt } = transaction;
  const state = ending.succeeded ? 'mined' : 'reverted';
  const settled = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const moved = await moveTransaction(trx, id, transactionPhases.open, state, ending);
    if (moved === undefined) return undefined;
    await invalidateOtherAttempts(trx, moved);
    const payouts = await payoutsOf(trx, group);
    for (const payout of payouts) {
      if (ending.succeeded) await completePayout(trx, payout, txHash);
      else await failPaid(trx, payout, { failedReason: REVERTED, feeKept: true, txHash });
    }
    if (purpose === 'sweep') {
      if (ending.succeeded) await markSwept(trx, group);
      else await markUnswept(trx, group, new Date(clock.now().getTime() + SWEEP_AGAIN_AFTER_MS));
    }
    if (ending.feePaid > 0n) {
      // The operator bears what the network took, whatever fee the merchant pays.
      const amount = ending.feePaid.toString();
      const payload = { chain, asset: nativeAsset[chain], amount, tx_hash: txHash, purpose };
      await appendToOutbox(trx, [{ kind: 'network.spent', payload }]);
    }
    await alongside?.(trx);
    failpoint(`${kind}.${purpose}s.settling`);
    return payouts;
  });
  if (settled === undefined) return false;
  failpoint(`${kind}.${purpose}s.settled`);
  tracer.record(() =>
    payoutSpans(`payout ${state}`, settled, {
      start: firstBroadcastAt ?? createdAt,
      end: clock.now(),
      chain,
      height: ending.height,
      ...(ending.succeeded ? {} : { error: state }),
    }),
  );
  wakeRelay();
  const details = { chain, transaction: txHash, payouts: settled, purpose, height: ending.height };
  if (ending.succeeded) logger.info(details, 'mined');
  else logger.error(details, 'a transaction was mined, but its recipient or token refused it');
  return true;
}

/**
 * Ends a group after the caller has proved that no attempt of it can ever be mined, of all attempts that were ever
 * signed. Only now does the money go back. False when the group had ended before.
 */
export async function invalidateGroup(
  ports: ChainPorts,
  lease: Lease,
  transaction: Transaction,
  alongside?: Alongside,
): Promise<boolean> {
  const payouts = await endUnmined(ports, lease, transaction, alongside);
  if (payouts === undefined) return false;
  const { txHash, wallet, nonce } = transaction;
  const details = { chain: ports.chain, transaction: txHash, payouts, wallet, nonce };
  ports.logger.error(details, 'a transaction can never be mined');
  return true;
}

/**
 * Ends the group of a sweep whose time is over, with the same proof: its deposits may be planned again. Many expire while a
 * network is busy, so it is logged once a minute. False when the group had ended before.
 */
export async function expireSweep(ports: ChainPorts, lease: Lease, sweep: Transaction): Promise<boolean> {
  if ((await endUnmined(ports, lease, sweep)) === undefined) return false;
  const { chain, throttledLog } = ports;
  const details = { chain, transaction: sweep.txHash, wallet: sweep.wallet };
  const message = 'a sweep was in no block in its time, its deposits are swept again';
  throttledLog.log('warn', `expired.${chain}`, details, message);
  return true;
}

/** @returns the payouts that have failed; undefined when the group had ended before */
async function endUnmined(
  { db, clock, wakeRelay }: ChainPorts,
  lease: Lease,
  { group, purpose }: Transaction,
  alongside?: Alongside,
): Promise<PayoutId[] | undefined> {
  const payouts = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if (!(await invalidateAttempts(trx, group))) return undefined;
    const unpaid = await payoutsOf(trx, group);
    for (const payout of unpaid) {
      await failPaid(trx, payout, { failedReason: NEVER_MINED, feeKept: false });
    }
    if (purpose === 'sweep') await markUnswept(trx, group, clock.now());
    await alongside?.(trx);
    failpoint(`${purpose}s.invalidating`);
    return unpaid;
  });
  if (payouts === undefined) return undefined;
  failpoint(`${purpose}s.invalidated`);
  wakeRelay();
  return payouts;
}

/** Fails a payout that its recipient would refuse. Nothing was signed for it, so all of its money goes back. */
export async function failUnsigned(ports: ChainPorts, lease: Lease, { id }: Payout): Promise<void> {
  const { db, logger, wakeRelay } = ports;
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const failure = { failedReason: RECIPIENT_REFUSES, feeKept: false };
    if (await failPayout(trx, id, ['reserved'], failure)) failpoint('payouts.failing');
  });
  failpoint('payouts.failed');
  wakeRelay();
  logger.info({ payout: id }, 'a payout failed, its recipient would refuse it');
}

const payoutsOf = async (trx: Trx, group: string): Promise<PayoutId[]> =>
  (await paymentsOf(trx, group)).map(({ payoutId }) => payoutId);

async function completePayout(trx: Trx, id: PayoutId, txHash: string): Promise<void> {
  const mined = await movePayout(trx, id, paidStatuses, 'mined', { txHash });
  invariant(mined !== undefined, `payout ${id} ended before its transaction did`);
  await appendToOutbox(trx, [
    { kind: 'hold.settle', payload: outcomeView(mined) },
    { kind: 'payout.completed', payload: eventView(mined) },
  ]);
}

/** `feeKept`: a transaction was mined, so that the network fee was spent. */
type Failure = { failedReason: string; feeKept: boolean; txHash?: string };

async function failPaid(trx: Trx, id: PayoutId, failure: Failure): Promise<void> {
  invariant(
    await failPayout(trx, id, paidStatuses, failure),
    `payout ${id} ended before its transaction did`,
  );
}

/** Fails a payout and releases its hold. False when it has none of the statuses `from`. */
export async function failPayout(
  trx: Trx,
  id: PayoutId,
  from: readonly PayoutStatus[],
  { feeKept, ...why }: Failure,
): Promise<boolean> {
  const failed = await movePayout(trx, id, from, 'failed', why);
  if (failed === undefined) return false;
  await appendToOutbox(trx, [
    { kind: 'hold.release', payload: { ...outcomeView(failed), fee_kept: feeKept } },
    { kind: 'payout.failed', payload: eventView(failed) },
  ]);
  return true;
}
