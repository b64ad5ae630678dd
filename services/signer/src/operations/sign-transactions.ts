import { KeysUnavailable } from '@quittance/chains/hot-key';
import {
  foreignParts,
  isFeeTooHigh,
  readSignature,
  type Signature,
  signOrder,
  toWire,
} from '@quittance/chains/signing';
import { nativeAsset } from '@quittance/shared/assets';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { reason } from '@quittance/shared/logger';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { contradictedInputs, validUntil } from '../domain/exclusion.ts';
import { exceedsFees } from '../domain/limits.ts';
import { needsOperator, refusalOf, type SigningRefusal } from '../domain/refusal.ts';
import type { Ports, SignerChain } from '../ports.ts';
import { type AskedOrder, readAsked } from '../read-order.ts';
import { type KnownSignature, knownSignatures, lockSignatures } from '../store/signatures.ts';
import { clearOrder } from './clear-order.ts';
import { type Collected, collectEvidence } from './collect-evidence.ts';
import { assertSameSeed } from './seed-mismatch.ts';
import { addSigned, readHistory, type SigningHistory, storeAdded } from './signing-history.ts';

/**
 * Less than payouts waits for an answer, by more than clocks may differ. Afterwards it asks again, and may plan something else when it is
 * told that nothing was signed: a first signature for the former question would then be in the way of the payout for ever.
 */
const SIGNED_WITHIN_MS = 9_000;

/**
 * With a KMS, no order is begun after this time in one transaction, whose lock others wait for up to five seconds. The rest is signed in
 * the next request.
 */
const SIGNING_MS = 3_000;

type Request = RequestOf<'transactions.sign'>;
/** What became of an order. `isNew`: it was signed for the first time. */
type Signed = { asked: AskedOrder; signature: Signature; isNew: boolean };
type Outcome = {
  signed: Signed[];
  refused: { order: AskedOrder | undefined; refusal: SigningRefusal } | null;
};

/**
 * Signs orders up to the first that is refused. What is signed is committed before it is given away: who asks again gets
 * the same bytes. Throws, so that the command gets no reply, when the chain is not configured, and on a seed mismatch.
 */
export async function signTransactions(
  ports: Ports,
  request: Request,
): Promise<ReplyOf<'transactions.sign'>> {
  const { db, clock, chains } = ports;
  const on = chains.get(request.chain);
  if (on === undefined) throw new Error(`${request.chain} is not configured`);
  const asked = request.orders.map((one) => readAsked(on, one));
  const read = asked.filter((one) => one !== undefined);
  const known = await knownSignatures(db, on.chain, digestsOf(read));
  const fresh = request.only_known ? [] : read.filter(({ digest }) => !known.has(digest));
  const collected = await collectEvidence(ports, on, fresh);
  const outcome = await db.transaction(async (trx) => {
    await lockSignatures(trx, on.chain);
    const isLate = clock.now().getTime() - Date.parse(request.asked_at) > SIGNED_WITHIN_MS;
    const given = { asked, collected, onlyKnown: request.only_known, isLate };
    const done = await signInOrder(ports, trx, on, given);
    failpoint('signer.recording');
    return done;
  });
  failpoint('signer.recorded');
  report(ports, on, outcome);
  const { signed, refused } = outcome;
  return {
    signed: signed.map(({ signature }) => toWire(signature)),
    refused: refused && viewOf(refused.refusal),
  };
}

const digestsOf = (orders: readonly AskedOrder[]) => orders.map(({ digest }) => digest);

const viewOf = ({ because, payouts, foreign, againAfterMs }: SigningRefusal) => ({
  because,
  payouts: [...payouts],
  foreign: [...foreign],
  again_after_ms: againAfterMs,
});

type Given = {
  asked: readonly (AskedOrder | undefined)[];
  collected: Collected;
  onlyKnown: boolean;
  isLate: boolean;
};

async function signInOrder(
  ports: Ports,
  trx: Trx,
  on: SignerChain,
  { asked, collected, onlyKnown, isLate }: Given,
): Promise<Outcome> {
  await assertSameSeed(trx, on);
  const { clock } = ports;
  const signsUntil = on.hotKeyIn === 'kms' ? clock.now().getTime() + SIGNING_MS : Number.POSITIVE_INFINITY;
  const signed: Signed[] = [];
  const read = asked.filter((one) => one !== undefined);
  const known = await knownSignatures(trx, on.chain, digestsOf(read));
  const fresh = onlyKnown || isLate ? [] : read.filter(({ digest }) => !known.has(digest));
  const history = await readHistory(trx, on, fresh, collected);
  const end = async (refused: Outcome['refused']): Promise<Outcome> => {
    await storeAdded(trx, on, history, collected.now);
    return { signed, refused };
  };
  for (const order of asked) {
    const earlier = order && known.get(order.digest);
    const done =
      order === undefined
        ? refuse(refusalOf('malformed'))
        : earlier !== undefined
          ? ok(await signAgain(on, order, earlier))
          : onlyKnown || isLate
            ? refuse(refusalOf(onlyKnown ? 'unknown' : 'late'))
            : clock.now().getTime() > signsUntil
              ? refuse(refusalOf('rest'))
              : await signFirst(ports, on, order, collected, history);
    if (!done.ok) return end({ order, refusal: done.refusal });
    invariant(order !== undefined, 'what is signed was read');
    known.set(order.digest, { txHash: done.value.txHash, signed: keptOf(on, done.value) });
    signed.push({ asked: order, signature: done.value, isNew: earlier === undefined });
  }
  return end(null);
}

/** As JSON, what is kept of a signature: all of it when another one for the same order would have other bytes. */
const keptOf = ({ hotKeyIn }: SignerChain, signature: Signature): unknown =>
  hotKeyIn === 'kms' ? toWire(signature) : null;

async function signAgain(
  on: SignerChain,
  { order }: AskedOrder,
  { txHash, signed: kept }: KnownSignature,
): Promise<Signature> {
  const signature = kept === null ? await signOrder(on.kind, on.signer, order) : readSignature(kept);
  invariant(signature.txHash === txHash, `the order of ${txHash} gives the same bytes again`);
  return signature;
}

/** Signs an order that was never signed before, when nothing speaks against it. Adds it to the history. */
async function signFirst(
  ports: Pick<Ports, 'logger' | 'throttledLog'>,
  on: SignerChain,
  asked: AskedOrder,
  collected: Collected,
  history: SigningHistory,
): Promise<Result<Signature, SigningRefusal>> {
  const { order, terms, digest, payouts, inputs, nonce, validToHeight } = asked;
  const foreign = foreignParts(on.kind, on.signer, order);
  if (foreign.length > 0) return refuse(refusalOf('foreign', foreign));
  if (isFeeTooHigh(on.chain, order)) return refuse(refusalOf('fee'));
  if (contradictedInputs(inputs, history.spent).length > 0) return refuse(refusalOf('inputs'));
  const clearance = clearOrder(on, asked, collected, history);
  if (!clearance.ok) return clearance;

  const signature = await signed(ports, on, order);
  if (typeof signature === 'string') return refuse(refusalOf(signature));
  const { txHash, maxCost } = signature;
  const limits = collected.limits[nativeAsset[on.chain]] ?? {};
  if (exceedsFees(limits, maxCost, history.costs)) return refuse(refusalOf('fees_per_24h'));

  const { solana } = collected;
  const validity =
    solana === undefined || validToHeight === undefined
      ? undefined
      : { ...solana, validToHeight: validUntil(validToHeight, solana.validToHeight) };
  const kept = { txHash, maxCost, signed: keptOf(on, signature) };
  const one = { digest, terms, ...kept, nonce, validity, payouts, inputs };
  addSigned(history, on, asked, clearance.value, one);
  return ok(signature);
}

/** `malformed` when the order is none that its chain's code signs, `keys` when who holds the hot key does not sign now. */
async function signed(
  { logger, throttledLog }: Pick<Ports, 'logger' | 'throttledLog'>,
  { chain, kind, signer }: SignerChain,
  order: AskedOrder['order'],
): Promise<Signature | 'malformed' | 'keys'> {
  try {
    const signature = await signOrder(kind, signer, order);
    // The key of a native sweep is that of a deposit.
    if (order.is !== 'native_sweep') throttledLog.ended(`keys.${chain}`, { chain }, 'the KMS signs again');
    return signature;
  } catch (error) {
    const fields = { chain, is: order.is, reason: reason(error) };
    if (error instanceof KeysUnavailable) {
      throttledLog.log('error', `keys.${chain}`, fields, 'the KMS did not sign, nothing is signed');
      return 'keys';
    }
    logger.error(fields, 'an order cannot be signed');
    return 'malformed';
  }
}

/** A transaction of Bitcoin pays hundreds at once: a line of the log names so many, and is cut off by nobody who collects it. */
const NAMED_MAX = 10;

/** What was signed, once; what is refused, now and then while it lasts. */
function report(
  { logger, throttledLog }: Pick<Ports, 'logger' | 'throttledLog'>,
  { chain }: SignerChain,
  { signed: all, refused }: Outcome,
): void {
  for (const { asked, signature, isNew } of all) {
    if (!isNew) continue;
    const { payouts, payments = [], order } = asked;
    const amounts = payments.slice(0, NAMED_MAX).map(({ asset, amount }) => `${amount} ${asset}`);
    const named = { payouts: payouts.slice(0, NAMED_MAX), amounts };
    const of = payouts.length > NAMED_MAX ? { payouts_in_all: payouts.length } : {};
    const fields = { chain, is: order.is, tx_hash: signature.txHash, ...named, ...of };
    logger.info(fields, 'a transaction is signed');
  }
  // What the request has had no time for is signed in the next one.
  if (refused === null || refused.refusal.againAfterMs === 0) return;
  const { order, refusal } = refused;
  const { because, payouts, foreign } = refusal;
  const fields = {
    chain,
    is: order?.order.is,
    because,
    payouts: payouts.length > 0 ? payouts : order?.payouts,
    foreign,
  };
  throttledLog.log(
    needsOperator(refusal) ? 'error' : 'warn',
    `refused.${chain}.${because}`,
    fields,
    'an order is not signed',
  );
}
