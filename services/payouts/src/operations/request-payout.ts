import type { Asked } from '@quittance/shared/bus';
import { sleepBy } from '@quittance/shared/clock';
import type { ReplyOf } from '@quittance/shared/commands';
import { brokenConstraint, isDatabaseDown, type Queryable } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { type IdempotencyKey, keepAnswer, takeKey } from '@quittance/shared/idempotency';
import { type AccountId, newPayoutId, type PayoutId } from '@quittance/shared/ids';
import { reason } from '@quittance/shared/logger';
import { assertNever, ok, type Result, refuse } from '@quittance/shared/result';
import type { PayoutOrder } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import {
  findPayout,
  insertRequested,
  movePayout,
  type NewPayout,
  type Payout,
  reserveRequested,
} from '../store/payouts.ts';
import { AssetHalted } from '../store/transactions.ts';
import { createdView, eventView, refusedView } from '../views.ts';
import { voidRequest } from './void-requests.ts';

/** Shorter than clients wait, and than the time after which undecided requests are voided. */
const RESERVE_FOR_MS = 3_000;
const RESERVE_PAUSE_MS = 500;
/** With a million payouts, one drawn id in 280 million is taken. */
const ID_DRAWS_MAX = 3;

type RequestPorts = Pick<Ports, 'db' | 'bus' | 'random' | 'clock' | 'logger' | 'wakeRelay'>;

export type PayoutRequest = PayoutOrder & {
  account: AccountId;
  /** The deposit whose unresolved money goes back, all of it; none to pay from the balance. */
  returnsDeposit?: string | null;
  requestId: string;
  key: IdempotencyKey | undefined;
};

/**
 * `key_taken`: another request with this key came first, look what it was answered. `unavailable`: it
 * is unknown whether the ledger has reserved the money, so this request is never paid. `halted`: the books of
 * the asset are wrong, and nothing was done. Of unresolved money:
 * `already_returned` by another payout that has not failed, or `already_accepted` into the balance, or not all there any
 * more: `used_for_recovery`.
 */
export type PayoutRefusal =
  | 'halted'
  | 'key_taken'
  | 'unavailable'
  | 'already_returned'
  | keyof typeof refusedView;

/** Creates a payout, when the ledger reserves its money: amount and network fee. */
export async function requestPayout(
  ports: RequestPorts,
  request: PayoutRequest,
): Promise<Result<PayoutId, PayoutRefusal>> {
  if (!ports.bus.connected()) return refuse('unavailable');
  const written = await writeRequest(ports, request);
  if (!written.ok) return written;
  const payout = written.value;
  failpoint('payouts.requested');

  const asked = await askForHold(ports, payout, request.requestId);
  const outcome = outcomeOf(asked);
  failpoint('payouts.held');
  switch (outcome) {
    case 'placed':
      return (await reserve(ports, payout, request.requestId)) ? ok(payout.id) : refuse('unavailable');
    case 'refused':
      return refuse(await refuseRequest(ports, payout, whyRefused(payout, asked)));
    case 'voided':
    case 'unknown':
      await ports.db.transaction((trx) => voidRequest(trx, payout.id, request.requestId));
      failpoint('payouts.voided');
      ports.wakeRelay();
      return refuse('unavailable');
    default:
      return assertNever(outcome);
  }
}

/** Draws another id when a payout has the drawn one already. */
async function writeRequest(
  { db, random }: Pick<RequestPorts, 'db' | 'random'>,
  request: PayoutRequest,
  draws = 1,
): Promise<Result<Payout, 'halted' | 'key_taken' | 'already_returned'>> {
  const { key } = request;
  const { returnsDeposit = null } = request;
  const payout = { ...request, returnsDeposit, id: newPayoutId(random) };
  try {
    if (key === undefined) return ok(await insertUnlessHalted(db, payout));
    const written = await db.transaction(async (trx) => {
      await takeKey(trx, key, payout.id, null);
      return insertUnlessHalted(trx, payout);
    });
    return ok(written);
  } catch (error) {
    if (error instanceof AssetHalted) return refuse('halted');
    const broken = brokenConstraint(error);
    if (broken === 'idempotency_keys_once') return refuse('key_taken');
    if (broken === 'payouts_one_return_of_deposit') return refuse('already_returned');
    if (broken === 'payouts_id_unique' && draws < ID_DRAWS_MAX) {
      return writeRequest({ db, random }, request, draws + 1);
    }
    throw error;
  }
}

/** Throws, so that the key that was taken for it is free again. */
async function insertUnlessHalted(db: Queryable, payout: NewPayout): Promise<Payout> {
  const written = await insertRequested(db, payout);
  if (written === undefined) throw new AssetHalted(payout.asset);
  return written;
}

/** Of unresolved money the ledger says no for good: as the account has accepted it, unless it says why. */
function whyRefused(
  { returnsDeposit }: Payout,
  asked: Asked<ReplyOf<'hold.place'>>,
): keyof typeof refusedView {
  if (returnsDeposit === null) return 'insufficient_balance';
  return (asked.known ? asked.reply.because : undefined) ?? 'already_accepted';
}

function askForHold(
  { bus }: RequestPorts,
  payout: Payout,
  requestId: string,
): Promise<Asked<ReplyOf<'hold.place'>>> {
  return bus.ask('hold.place', {
    request_id: requestId,
    payout_id: payout.id,
    account_id: payout.account,
    asset: payout.asset,
    amount: payout.amount.toString(),
    network_fee: payout.networkFee.toString(),
    deposit_id: payout.returnsDeposit,
  });
}

const outcomeOf = (asked: Asked<ReplyOf<'hold.place'>>) => (asked.known ? asked.reply.outcome : 'unknown');

/**
 * From here on the payout exists. False when it was given up meanwhile: its hold is being undone.
 *
 * A commit whose answer is lost may stand or not, and a client that hears 503 must never be paid. So this asks
 * until it knows, and throws, which makes a 500 that promises nothing, when it cannot be known in time.
 */
async function reserve(ports: RequestPorts, requested: Payout, requestId: string): Promise<boolean> {
  const { db, clock, logger } = ports;
  const reserved: Payout = { ...requested, status: 'reserved', version: requested.version + 1 };
  const reservation = {
    id: requested.id,
    created: eventView(reserved),
    answer: createdView(requested.id),
    requestId,
  };
  const deadline = clock.now().getTime() + RESERVE_FOR_MS;
  let moved: boolean | undefined;
  for (let tries = 1; moved === undefined; tries++) {
    try {
      const isMine = await reserveRequested(db, reservation, clock.now());
      // Or moved by a try before this one, whose answer was lost. Until that is known nothing is.
      moved = isMine || (tries > 1 && (await findPayout(db, requested.id))?.status !== 'voided');
    } catch (error) {
      if (!isDatabaseDown(error) || clock.now().getTime() > deadline) {
        throw new Error(
          `payout ${requested.id} has a hold, but it cannot be known whether it was written down`,
          {
            cause: error,
          },
        );
      }
      logger.warn(
        { payout: requested.id, reason: reason(error) },
        'a payout could not be written down, trying again',
      );
      await sleepBy(clock, RESERVE_PAUSE_MS);
    }
  }
  failpoint('payouts.reserved');
  ports.wakeRelay();
  return moved;
}

/** Keeps why for the same key. Unavailable when it was given up meanwhile. */
async function refuseRequest(
  { db }: RequestPorts,
  { id }: Payout,
  why: keyof typeof refusedView,
): Promise<PayoutRefusal> {
  const { status, body } = refusedView[why];
  const refused = await db.transaction(async (trx) => {
    const moved = await movePayout(trx, id, ['requested'], 'refused');
    if (moved !== undefined) await keepAnswer(trx, id, status, body);
    return moved !== undefined;
  });
  failpoint('payouts.refused');
  return refused ? why : 'unavailable';
}
