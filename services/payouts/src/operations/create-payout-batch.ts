import type { Trx } from '@quittance/shared/db';
import { brokenConstraint } from '@quittance/shared/db-errors';
import { failpoint } from '@quittance/shared/failpoint';
import { forgetKey, type IdempotencyKey, keepAnswer, takeKey } from '@quittance/shared/idempotency';
import { type AccountId, newBatchId, newPayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { hintOf, messagesOf } from '@quittance/shared/validation';
import type { BatchMode, BatchOrderLine } from '../batch-order.ts';
import type { BatchView } from '../batch-views.ts';
import type { PayoutOrder } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { haltedAssets } from '../store/halts.ts';
import {
  insertBatch,
  insertBatchPayouts,
  lockUnfinished,
  markFinished,
  moveRequested,
  noteAvailable,
  type PayoutBatch,
  type UnpaidLine,
} from '../store/payout-batches.ts';
import type { Payout } from '../store/payouts.ts';
import { type KeptRequest, keepRequest, makerOf } from '../store/request-proofs.ts';
import { AssetHalted } from '../store/transactions.ts';
import { insufficientBalance, voidEvent } from '../views.ts';
import { askHolds, type BatchPayout, type Decision } from './ask-holds.ts';
import { batchNeeds } from './batch-needs.ts';
import { finishBatch } from './finish-payout-batch.ts';
import { reserveHeld } from './reserve-batch.ts';

/** The ledger decides 64 holds of one balance in one statement. */
const HOLDS_AT_ONCE = 64;
/** No more holds are asked for after this time, which is shorter than the gateway waits. */
const ASK_FOR_MS = 8_000;
/** With a million payouts, one drawn id in 280 million is taken. */
const ID_DRAWS_MAX = 3;

type BatchPorts = Pick<Ports, 'db' | 'bus' | 'random' | 'clock' | 'logger' | 'wakeRelay'>;

export type BatchRequest = {
  account: AccountId;
  request: KeptRequest;
  mode: BatchMode;
  /** In the mode all_or_nothing each has an order. */
  lines: readonly BatchOrderLine[];
  requestId: string;
  key: IdempotencyKey | undefined;
};

/**
 * Why a batch creates no payout.
 *
 * | refusal | meaning |
 * |---|---|
 * | `key_taken` | Another request with this idempotency key came first. |
 * | `assertion_used` | The same assertion has created a batch before. Nothing was done. |
 * | `unavailable` | Nothing was paid and nothing will be. |
 * | `halted` | Payouts of an asset of an all_or_nothing batch are halted. Nothing was done. |
 * | a body | The ledger refused a line of an all_or_nothing batch. It is the body of the 400. |
 */
export type BatchRefusal = NotWritten | 'unavailable' | { insufficientBalance: object };
type NotWritten = 'halted' | 'key_taken' | 'assertion_used';

/**
 * Creates the payouts of a batch. All requests are stored before the ledger is asked. In the mode `each` every payout is
 * decided by itself. In the mode `all_or_nothing` all payouts stay `requested` until all holds are placed, and are reserved in
 * one database transaction. What a process that dies has not decided is voided, see voidStaleRequests and finishStaleBatches.
 */
export async function createPayoutBatch(
  ports: BatchPorts,
  request: BatchRequest,
): Promise<Result<BatchView, BatchRefusal>> {
  if (!ports.bus.connected()) return refuse('unavailable');
  const written = await writeBatch(ports, request);
  if (!written.ok) return written;
  const { batch, payouts } = written.value;
  failpoint('payouts.batch_requested');
  try {
    const isAll = request.mode === 'all_or_nothing';
    const refusal = isAll ? await reserveAll(ports, request, batch, payouts) : undefined;
    if (!isAll) await reserveEach(ports, request, written.value);
    failpoint('payouts.batch_decided');
    ports.wakeRelay();
    if (refusal !== undefined) return refuse(refusal);
    const view = await finishBatch(ports, batch);
    failpoint('payouts.batch_finished');
    return view === undefined ? refuse('unavailable') : ok(view);
  } catch (error) {
    // A database that is down would be answered with 503, which promises that nothing is paid.
    throw new Error(`it is not known what became of the payouts of batch ${batch.id}`, { cause: error });
  }
}

type Written = { batch: PayoutBatch; payouts: BatchPayout[] };

/** Stores the batch with its key and its requests. Draws other ids when a payout has one of them already. */
async function writeBatch(
  { db, random }: Pick<BatchPorts, 'db' | 'random'>,
  request: BatchRequest,
  draws = 1,
): Promise<Result<Written, NotWritten>> {
  const { account, request: asking, mode, lines, key } = request;
  const id = newBatchId();
  try {
    const written = await db.transaction(async (trx) => {
      if (key !== undefined) await takeKey(trx, key, id, null);
      const halted = await haltedAssets(trx);
      const isPayable = (line: BatchOrderLine) => 'order' in line && !halted.has(line.order.asset);
      const unpaid = lines.filter((line) => !isPayable(line));
      const [first] = unpaid;
      if (mode === 'all_or_nothing' && first !== undefined && 'order' in first) {
        throw new AssetHalted(first.order.asset);
      }
      const unpaidLines = unpaid.map(unpaidLineOf);
      await keepRequest(trx, asking);
      const given = { id, account, assertionId: asking.id, mode, lines: lines.length, unpaidLines };
      const batch = await insertBatch(trx, given);
      const orders = lines.flatMap((line): (PayoutOrder & { line: number })[] =>
        'order' in line && isPayable(line) ? [{ ...line.order, line: line.line }] : [],
      );
      const requests = orders.map(({ line: batchLine, ...order }) => {
        const madeBy = makerOf(asking);
        return { ...order, account, madeBy, batchId: id, batchLine, id: newPayoutId(random) };
      });
      const payouts = requests.length === 0 ? [] : await insertBatchPayouts(trx, requests);
      const [left] = requests.filter((one) => !payouts.some((payout) => payout.id === one.id));
      // Halted between the two statements.
      if (left !== undefined) throw new AssetHalted(left.asset);
      return { batch, payouts };
    });
    return ok(written);
  } catch (error) {
    if (error instanceof AssetHalted) return refuse('halted');
    const broken = brokenConstraint(error);
    if (broken === 'idempotency_keys_once') return refuse('key_taken');
    if (broken === 'payout_batches_assertion_once') return refuse('assertion_used');
    if (broken === 'payouts_id_unique' && draws < ID_DRAWS_MAX) {
      return writeBatch({ db, random }, request, draws + 1);
    }
    throw error;
  }
}

const unpaidLineOf = (line: BatchOrderLine): UnpaidLine =>
  'errors' in line
    ? { line: line.line, errors: messagesOf(line.errors), ...hintOf(line.errors) }
    : { line: line.line };

function* chunksOf<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += HOLDS_AT_ONCE) yield all.slice(from, from + HOLDS_AT_ONCE);
}

/** What the balance had for the lines that it did not cover, where the ledger says it. */
const availableOf = (decided: readonly Decision[]): PayoutBatch['available'] =>
  Object.fromEntries(
    decided.flatMap(({ payout, outcome, available }) =>
      outcome === 'refused' && available !== undefined ? [[payout.batchLine, available]] : [],
    ),
  );

/** Reserves each payout whose hold is placed. What the ledger does not decide in time is voided. */
async function reserveEach(
  ports: BatchPorts,
  request: BatchRequest,
  { batch, payouts }: Written,
): Promise<void> {
  const { requestId } = request;
  const { db, clock, wakeRelay } = ports;
  const deadline = clock.now().getTime() + ASK_FOR_MS;
  for (const chunk of chunksOf(payouts)) {
    const isInTime = clock.now().getTime() < deadline;
    const decided = isInTime ? await askHolds(ports, chunk, request) : [];
    const idsOf = (outcome: string) =>
      decided.filter((one) => one.outcome === outcome).map(({ payout }) => payout.id);
    const [placed, refused] = [idsOf('placed'), idsOf('refused')];
    await db.transaction(async (trx) => {
      const held = chunk.filter(({ id }) => placed.includes(id));
      await reserveHeld(trx, held, request, clock.now());
      await moveRequested(trx, refused, 'refused');
      await noteAvailable(trx, batch.id, availableOf(decided));
      const others = chunk.filter(({ id }) => !placed.includes(id) && !refused.includes(id));
      await voidAll(trx, others, requestId);
    });
    wakeRelay();
  }
}

/** Reserves all payouts when all holds are placed, or voids all. @returns why nothing is paid. */
async function reserveAll(
  ports: BatchPorts,
  request: BatchRequest,
  batch: PayoutBatch,
  payouts: Written['payouts'],
): Promise<BatchRefusal | undefined> {
  const { requestId } = request;
  const { db, clock } = ports;
  const deadline = clock.now().getTime() + ASK_FOR_MS;
  const placed: Payout[] = [];
  let notPlaced: Decision | undefined;
  for (const chunk of chunksOf(payouts)) {
    if (clock.now().getTime() >= deadline) return giveUp(ports, batch, payouts, requestId);
    const decided = await askHolds(ports, chunk, request);
    placed.push(...decided.filter(({ outcome }) => outcome === 'placed').map(({ payout }) => payout));
    notPlaced =
      decided.find(({ outcome }) => outcome === 'refused') ??
      decided.find(({ outcome }) => outcome !== 'placed');
    if (notPlaced !== undefined) break;
  }
  if (notPlaced?.outcome === 'refused') {
    const hint = await batchNeeds(ports, notPlaced.payout, payouts, placed);
    return refuseAll(ports, batch, payouts, { ...notPlaced, hint }, requestId);
  }
  if (notPlaced !== undefined) return giveUp(ports, batch, payouts, requestId);
  failpoint('payouts.batch_held');
  try {
    await db.transaction(async (trx) => {
      const moved = await reserveHeld(trx, payouts, request, clock.now());
      if (moved !== payouts.length) throw new NotAll();
    });
  } catch (error) {
    if (!(error instanceof NotAll)) throw error;
    return giveUp(ports, batch, payouts, requestId);
  }
  return undefined;
}

/** Thrown to roll back: some requests were voided in between, so nothing is paid. */
class NotAll extends Error {}

async function voidAll(trx: Trx, payouts: readonly Payout[], requestId: string | null): Promise<void> {
  const voided = await moveRequested(
    trx,
    payouts.map(({ id }) => id),
    'voided',
  );
  await appendToOutbox(trx, voided.map(voidEvent), requestId);
}

/** Ends an all_or_nothing batch of which the ledger refused a line. The other holds are voided. */
async function refuseAll(
  { db }: BatchPorts,
  batch: PayoutBatch,
  payouts: Written['payouts'],
  { payout, available, hint }: Decision & { hint: string | undefined },
  requestId: string,
): Promise<BatchRefusal> {
  const answer = insufficientBalance(payout, available === undefined ? undefined : units(available));
  const body = { ...answer.body, ...(hint !== undefined && { hint }), line: payout.batchLine };
  const isMine = await db.transaction(async (trx) => {
    if ((await lockUnfinished(trx, batch.id)) === undefined) return false;
    await moveRequested(trx, [payout.id], 'refused');
    await voidAll(trx, payouts, requestId);
    await keepAnswer(trx, batch.id, answer.status, body);
    await markFinished(trx, batch.id);
    return true;
  });
  return isMine ? { insufficientBalance: body } : 'unavailable';
}

/** Ends an all_or_nothing batch that cannot be decided. Its key can be used again. */
async function giveUp(
  { db }: BatchPorts,
  batch: PayoutBatch,
  payouts: Written['payouts'],
  requestId: string,
): Promise<'unavailable'> {
  await db.transaction(async (trx) => {
    await voidAll(trx, payouts, requestId);
    if ((await lockUnfinished(trx, batch.id)) === undefined) return;
    await forgetKey(trx, batch.id);
    await markFinished(trx, batch.id);
  });
  return 'unavailable';
}
