import type { Clock } from '@quittance/shared/clock';
import { commands, type ReplyOf, type RequestOf } from '@quittance/shared/commands';
import type { Queryable } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { requestBatcher, runAgain } from '@quittance/shared/request-batcher';
import { type AskedHold, type Hold, outcomeOf, sameContents } from '../domain/hold.ts';
import type { HoldBatcher, Ports } from '../ports.ts';
import { decideHolds } from '../store/holds.ts';
import { decideRefunds, type Refund } from '../store/suspense.ts';
import { OtherContents } from '../store/transfers.ts';

/** More statements only queue on each other's row locks. */
const STATEMENTS_AT_ONCE = 4;
const BATCH_MAX = 64;
const WAITING_MAX = 10_000;

/**
 * Sets a payout's amount and fee aside, if the balance has them, or the deposit that it pays back waits for a
 * decision still. Decided once by payout id: asking again, at once or years later, gets what was decided.
 */
export async function placeHold(
  { holds, logger }: Pick<Ports, 'holds' | 'logger'>,
  request: RequestOf<'hold.place'>,
): Promise<ReplyOf<'hold.place'>> {
  const payout = {
    id: request.payout_id as PayoutId,
    account: request.account_id as AccountId,
    asset: request.asset,
    amount: units(request.amount),
    networkFee: units(request.network_fee),
    deposit: request.deposit_id as DepositId | null,
    takesAll: request.takes_all === true,
    isPart: request.is_part === true,
  };
  const hold = await holds.decide({ ...payout, invoice: request.invoice_id ?? null });
  const { amount: least, takesAll, ...others } = payout;
  // The amount of a hold that takes all is what the ledger has decided.
  if (!sameContents(hold, takesAll ? others : { ...others, amount: least }))
    throw new OtherContents(`the hold of payout ${payout.id}`);
  failpoint('ledger.hold_decided');
  const outcome = outcomeOf[hold.state];
  logger.debug({ request_id: request.request_id, payout: payout.id, outcome }, 'decided a hold');
  const { because, available } = hold;
  return {
    outcome,
    because,
    ...(takesAll && outcome === 'placed' && { amount: hold.amount?.toString() }),
    ...(typeof available === 'bigint' && { available: available.toString() }),
  };
}

/** The batcher of a replica. */
export const holdBatcherOf = ({ db, clock }: Pick<Ports, 'db' | 'clock'>): HoldBatcher =>
  createHoldBatcher({
    decide: (payouts) => decideAllHolds(db, payouts),
    clock,
    timeoutMs: commands['hold.place'].timeoutMs,
  });

type HoldBatcherOptions = {
  /** Decides several at once; leaves out those that are to be asked again. */
  decide: (payouts: readonly AskedHold[]) => Promise<Hold[]>;
  clock: Clock;
  /** The caller stops waiting after this long. */
  timeoutMs: number;
};

/**
 * Puts holds that wait at the same moment into one statement. A balance is in one statement at a time, with all holds
 * that wait for it: they share a round trip instead of queueing on its row.
 */
export const createHoldBatcher = ({ decide, clock, timeoutMs }: HoldBatcherOptions): HoldBatcher => ({
  decide: requestBatcher({
    async run(payouts: readonly AskedHold[]) {
      const holds = new Map((await decide(payouts)).map((hold) => [hold.id, hold]));
      return payouts.map(({ id }) => holds.get(id) ?? runAgain);
    },
    max: BATCH_MAX,
    atOnce: STATEMENTS_AT_ONCE,
    groupOf: ({ account, asset }) => `${account} ${asset}`,
    keyOf: ({ id }) => id,
    waitingMax: WAITING_MAX,
    expiry: { clock, afterMs: timeoutMs },
  }),
});

/**
 * Decides holds that were asked for at the same moment, each once for ever: of balances in one statement, of
 * unresolved deposits in another.
 * @returns what is decided, now or before; those left out are to be asked again.
 */
async function decideAllHolds(db: Queryable, payouts: readonly AskedHold[]): Promise<Hold[]> {
  const refunds = payouts.flatMap(({ deposit, isPart = false, ...payout }): Refund[] =>
    deposit === null ? [] : [{ ...payout, deposit, isPart }],
  );
  if (refunds.length === 0) return decideHolds(db, payouts);
  const others = payouts.filter(({ deposit }) => deposit === null);
  const decided = others.length === 0 ? [] : await decideHolds(db, others);
  return [...decided, ...(await decideRefunds(db, refunds))];
}
