import { foreignParts, isFeeTooHigh, type Signature, signOrder, toWire } from '@quittance/chains/signing';
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
import { knownHashes, lockSignatures } from '../store/signatures.ts';
import { clearOrder } from './clear-order.ts';
import { type Collected, collectEvidence } from './collect-evidence.ts';
import { assertSameSeed } from './seed-mismatch.ts';
import { addSigned, readHistory, type SigningHistory, storeAdded } from './signing-history.ts';

/**
 * Less than payouts waits for an answer, by more than clocks may differ. Afterwards it asks again, and may plan something else when it is
 * told that nothing was signed: a first signature for the former question would then be in the way of the payout for ever.
 */
const SIGNED_WITHIN_MS = 9_000;

type Request = RequestOf<'transactions.sign'>;
/** What became of an order. `isNew`: it was signed for the first time. */
type Signed = { asked: AskedOrder; signature: Signature; isNew: boolean };
type Outcome = {
  signed: Signed[];
  refused: { order: AskedOrder | undefined; refusal: SigningRefusal } | null;
};

/**
 * Signs orders up to the first that is refused. What is signed is committed here before anybody is given it: who asks again gets
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
  const known = await knownHashes(db, on.chain, digestsOf(read));
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
  const signed: Signed[] = [];
  const read = asked.filter((one) => one !== undefined);
  const known = await knownHashes(trx, on.chain, digestsOf(read));
  const fresh = onlyKnown || isLate ? [] : read.filter(({ digest }) => !known.has(digest));
  const history = await readHistory(trx, on, fresh, collected);
  const end = async (refused: Outcome['refused']): Promise<Outcome> => {
    await storeAdded(trx, on, history, collected.now);
    return { signed, refused };
  };
  for (const order of asked) {
    const hash = order && known.get(order.digest);
    const done =
      order === undefined
        ? refuse(refusalOf('malformed'))
        : hash !== undefined
          ? ok(await signAgain(on, order, hash))
          : onlyKnown || isLate
            ? refuse(refusalOf(onlyKnown ? 'unknown' : 'late'))
            : await signFirst(ports, on, order, collected, history);
    if (!done.ok) return end({ order, refusal: done.refusal });
    invariant(order !== undefined, 'what is signed was read');
    known.set(order.digest, done.value.txHash);
    signed.push({ asked: order, signature: done.value, isNew: hash === undefined });
  }
  return end(null);
}

async function signAgain(on: SignerChain, { order }: AskedOrder, txHash: string): Promise<Signature> {
  const signature = await signOrder(on.kind, on.signer, order);
  invariant(signature.txHash === txHash, `the order of ${txHash} gives the same bytes again`);
  return signature;
}

/** Signs an order that was never signed before, when nothing speaks against it. Adds it to the history. */
async function signFirst(
  ports: Pick<Ports, 'logger'>,
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
  if (signature === undefined) return refuse(refusalOf('malformed'));
  const { txHash, maxCost } = signature;
  const limits = collected.limits[nativeAsset[on.chain]] ?? {};
  if (exceedsFees(limits, maxCost, history.costs)) return refuse(refusalOf('fees_per_24h'));

  const { solana } = collected;
  const validity =
    solana === undefined || validToHeight === undefined
      ? undefined
      : { ...solana, validToHeight: validUntil(validToHeight, solana.validToHeight) };
  const one = { digest, terms, txHash, maxCost, nonce, validity, payouts, inputs };
  addSigned(history, on, asked, clearance.value, one);
  return ok(signature);
}

/** Undefined when the order is none that its chain's code signs. */
async function signed(
  { logger }: Pick<Ports, 'logger'>,
  on: SignerChain,
  order: AskedOrder['order'],
): Promise<Signature | undefined> {
  try {
    return await signOrder(on.kind, on.signer, order);
  } catch (error) {
    logger.error({ chain: on.chain, is: order.is, reason: reason(error) }, 'an order cannot be signed');
    return undefined;
  }
}

/** What was signed, once; what is refused, now and then while it lasts. */
function report(
  { logger, throttledLog }: Pick<Ports, 'logger' | 'throttledLog'>,
  { chain }: SignerChain,
  { signed: all, refused }: Outcome,
): void {
  for (const { asked, signature, isNew } of all) {
    if (!isNew) continue;
    const { payouts, payments = [], order } = asked;
    const amounts = payments.map(({ asset, amount }) => `${amount} ${asset}`);
    const fields = { chain, is: order.is, tx_hash: signature.txHash, payouts, amounts };
    logger.info(fields, 'a transaction is signed');
  }
  if (refused === null) return;
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
