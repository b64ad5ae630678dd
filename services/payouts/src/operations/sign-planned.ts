import { CAME_LATE } from '@quittance/shared/commands';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { PayoutId } from '@quittance/shared/ids';
import { assertLease, type Lease, renewLease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import type { ChainPorts } from '../ports.ts';
import { haltedAssets } from '../store/halts.ts';
import { planPayouts, unplanPayouts } from '../store/payouts.ts';
import { deletePlan, findPlan, insertPlan, type PlannedTransaction } from '../store/signing-plans.ts';
import { AssetHalted, type Transaction } from '../store/transactions.ts';
import { postponeDeposits } from '../store/unswept-deposits.ts';
import { postponeUtxos } from '../store/utxos.ts';
import { nextNonce } from '../store/wallets.ts';
import type { Refusal } from '../transaction-signer.ts';
import { payoutSpans } from './payout-spans.ts';
import { storeSigned } from './store-signed.ts';
import { sendTransaction } from './transactions.ts';

/**
 * Sweeps and merges that the signer has refused, and outputs that are not of its wallet, are left out of plans so many times as
 * long as it says: ten seconds when the KMS did not sign, ten minutes when somebody has to look into it.
 */
const TIMES_AS_LONG = 10;

/** Thrown to roll back the database transaction: the plan is out of date, or another one is not carried out yet. */
class NotNow extends Error {}

/**
 * Stores what shall be signed, asks the signer for it, stores the bytes. Without the plan, a crash between signature and
 * storing could lead to a second signature for the same payout from other inputs. Throws AssetHalted while an asset of it is
 * halted.
 * @param stillRight whether what else was read for the plan has not changed, asked in the database transaction that stores it
 * @returns the signed transactions, to be sent; fewer when the signer has refused one, none when it does not answer
 */
export async function signPlanned(
  ports: ChainPorts,
  lease: Lease,
  planned: readonly PlannedTransaction[],
  stillRight: (trx: Trx) => Promise<boolean> = async () => true,
): Promise<Transaction[]> {
  if (planned.length === 0) return [];
  const start = ports.clock.now();
  try {
    await ports.db.transaction(async (trx) => {
      await assertLease(trx, lease);
      const halted = await haltedAssets(trx);
      const stopped = planned.find(({ asset }) => halted.has(asset));
      if (stopped !== undefined) throw new AssetHalted(stopped.asset);
      if (!(await stillRight(trx))) throw new NotNow();
      if (!(await planPayouts(trx, payoutsOf(planned)))) throw new NotNow();
      if (!(await insertPlan(trx, ports.chain, planned, lease.token))) throw new NotNow();
      // After it, because a plan that was carried out meanwhile has used its nonces.
      if (!(await areNextNonces(trx, ports, planned))) throw new NotNow();
      failpoint('plans.storing');
    });
  } catch (error) {
    if (error instanceof NotNow) return [];
    throw error;
  }
  failpoint('plans.stored');
  const stored = { start, end: ports.clock.now() };
  ports.tracer.record(() =>
    payoutSpans('payout planned', payoutsOf(planned), { ...stored, chain: ports.chain }),
  );
  return await carryOut(ports, lease, planned, false);
}

/**
 * Carries out a plan that an earlier round has left, and sends what is signed. What belongs to an asset that was halted since
 * is signed only if it was before.
 * @returns how many were sent; 0 also when there is no plan, or the signer does not answer
 */
export async function finishPlan(ports: ChainPorts, lease: Lease): Promise<number> {
  const { db, chain, kind } = ports;
  const planned = await findPlan(db, chain, kind);
  if (planned === undefined) return 0;
  const halted = await haltedAssets(db);
  const onlyKnown = planned.some(({ asset }) => halted.has(asset));
  return await send(ports, lease, await carryOut(ports, lease, planned, onlyKnown));
}

/** Has first attempts signed as `signPlanned` does, and sends them. @returns how many were sent. */
export const signAndSend = async (...given: Parameters<typeof signPlanned>): Promise<number> =>
  await send(given[0], given[1], await signPlanned(...given));

async function send(ports: ChainPorts, lease: Lease, signed: readonly Transaction[]): Promise<number> {
  for (const transaction of signed) {
    await renewLease(ports.db, lease);
    await sendTransaction(ports, transaction);
  }
  return signed.length;
}

async function carryOut(
  ports: ChainPorts,
  lease: Lease,
  planned: readonly PlannedTransaction[],
  onlyKnown: boolean,
): Promise<Transaction[]> {
  const { db, kind, chain, signer, throttledLog, clock, tracer } = ports;
  const start = clock.now();
  const orders = planned.map(({ order, payments }) => {
    return { order, payouts: payments.map(({ payoutId }) => payoutId) };
  });
  const answer = await signer.sign({ chain, onlyKnown, orders });
  if (!answer.known) {
    const details = { chain, reason: answer.reason };
    throttledLog.log('error', `signer.${chain}`, details, 'the signer does not answer: nothing is signed');
    return [];
  }
  failpoint('plans.signed');
  const { signed, refused } = answer.reply;
  const stoppedAt = planned[signed.length];
  invariant((stoppedAt === undefined) === (refused === null), 'the signer tells why it stops');
  // Again after no time: the request has taken long enough, and the next one asks for the rest.
  const refusedOne = refused?.again_after_ms === 0 ? undefined : stoppedAt;
  const stored = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const transactions: Transaction[] = [];
    for (const [i, signature] of signed.entries()) {
      const transaction = await storeSigned(trx, ports, lease, plannedAt(planned, i), signature);
      if (transaction !== undefined) transactions.push(transaction);
    }
    if (refused !== null && refusedOne !== undefined && !onlyKnown)
      await postpone(trx, ports, refusedOne, refused);
    await unplanPayouts(trx, payoutsOf(planned.slice(signed.length)));
    await deletePlan(trx, chain);
    for (const { purpose } of transactions) failpoint(`${kind}.${purpose}s.signing`);
    return transactions;
  });
  for (const { purpose } of stored) failpoint(`${kind}.${purpose}s.signed`);
  // From the question to the signer until the bytes are stored; also of the next attempt at a payment.
  tracer.record(() => {
    const payouts = planned
      .slice(0, signed.length)
      .flatMap(({ payments }) => payments.map((one) => one.payoutId));
    return payoutSpans('payout signed', payouts, { kind: 'client', start, end: clock.now(), chain });
  });
  if (refused !== null && refusedOne !== undefined) reportRefusal(ports, refusedOne, refused);
  return stored;
}

function plannedAt<T>(planned: readonly T[], i: number): T {
  const one = planned[i];
  invariant(one !== undefined, 'the signer signs what it was asked for');
  return one;
}

/** Whether first attempts have the next nonces of their wallets. */
async function areNextNonces(
  trx: Trx,
  { chain }: Pick<ChainPorts, 'chain'>,
  planned: readonly PlannedTransaction[],
): Promise<boolean> {
  const lowest = new Map<string, number>();
  for (const { after, wallet, nonce } of planned)
    if (after === null && nonce !== null) lowest.set(wallet, Math.min(nonce, lowest.get(wallet) ?? nonce));
  for (const [wallet, nonce] of lowest) if ((await nextNonce(trx, chain, wallet)) !== nonce) return false;
  return true;
}

/** The payouts that are signed for the first time. */
const payoutsOf = (planned: readonly PlannedTransaction[]): PayoutId[] =>
  planned.flatMap(({ after, payments }) => (after === null ? payments.map(({ payoutId }) => payoutId) : []));

/** What the signer has refused is left out of plans for a while, so that others are signed. */
async function postpone(
  trx: Trx,
  { clock }: Pick<ChainPorts, 'clock'>,
  { payments, swept, order, after }: PlannedTransaction,
  { payouts, foreign, because, again_after_ms: againAfterMs }: Refusal,
): Promise<void> {
  // The next attempt of what is signed already is tried in every round.
  if (after !== null) return;
  // Another process may be asked to sweep the same at once.
  if (because === CAME_LATE && payments.length === 0) return;
  const now = clock.now().getTime();
  const later = new Date(now + TIMES_AS_LONG * againAfterMs);
  const utxos = order.is === 'spend' ? order.utxos : [];
  const outputs = utxos.filter(({ outpoint }) => foreign.includes(outpoint));
  if (outputs.length > 0) return await postponeUtxos(trx, outputs, later);
  if (swept !== null) return await postponeDeposits(trx, swept.depositIds, later);
  if (payments.length === 0) return await postponeUtxos(trx, utxos, later);
  const all = payments.map(({ payoutId }) => payoutId);
  const refused = all.filter((id) => payouts.includes(id));
  const until = new Date(now + againAfterMs);
  await unplanPayouts(trx, refused.length > 0 ? refused : all, { until, because });
}

function reportRefusal(
  { chain, throttledLog }: ChainPorts,
  { asset, payments }: PlannedTransaction,
  { because, payouts, foreign }: Refusal,
): void {
  const of = payouts.length > 0 ? payouts : payments.map(({ payoutId }) => payoutId);
  const details = { chain, asset, payouts: of, because, ...(foreign.length > 0 && { foreign }) };
  throttledLog.log('error', `refused.${chain}.${because}`, details, 'the signer refuses a transaction');
}
