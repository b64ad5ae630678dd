import type { AssetSymbol } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { type Cleared, clear, mismatch, type OrderedPayment, unanswered } from '../domain/clearance.ts';
import { type Exclusive, excludes } from '../domain/exclusion.ts';
import { noSums, type Sums } from '../domain/limits.ts';
import { type ReasonName, refusalFor, refusalOf, type SigningRefusal } from '../domain/refusal.ts';
import type { SignerChain } from '../ports.ts';
import { type AskedOrder, exclusiveOf } from '../read-order.ts';
import { type ClearedPayout, clearedPayouts, clearedSums } from '../store/cleared-payouts.ts';
import { type EarlierSignature, earlierSignatures } from '../store/signatures.ts';
import type { Collected } from './collect-evidence.ts';

/**
 * Whether the payouts of a new order may be paid by it: those that were signed for before when it excludes every earlier
 * transaction of theirs, the others when they are cleared. Answers those that are cleared now.
 */
export async function clearOrder(
  trx: Trx,
  on: SignerChain,
  asked: AskedOrder,
  collected: Collected,
): Promise<Result<Cleared[], SigningRefusal>> {
  const { payments, payouts } = asked;
  if (payments === undefined) return refuse(refusalOf('recipients'));
  if (payments.length === 0) return ok([]);
  // Without it nobody could ever tell that this transaction is over.
  if (on.kind === 'solana' && collected.solana === undefined) return refuse(refusalOf('nodes'));
  const before = await clearedPayouts(trx, payouts);
  const earlier = await earlierSignatures(trx, payouts);
  const refused = new Map<string, ReasonName>([
    ...changedPayments(payments, before),
    ...stillMineable(earlier, exclusiveOf(on, asked)),
  ]);
  const fresh = payments.filter(({ payout }) => !before.has(payout));
  const silent = fresh.length === 0 ? undefined : unanswered(collected);
  if (silent !== undefined) return refuse(refusalOf(silent));
  const cleared = clear(fresh, collected, await sumsFor(trx, fresh, collected));
  const refusal = refusalFor(new Map([...refused, ...cleared.refused]));
  return refusal === undefined ? ok(cleared.cleared) : refuse(refusal);
}

const changedPayments = (payments: readonly OrderedPayment[], before: ReadonlyMap<string, ClearedPayout>) =>
  payments.flatMap((payment): [string, ReasonName][] => {
    const known = before.get(payment.payout);
    const problem = known && mismatch(payment, known);
    return problem === undefined ? [] : [[payment.payout, problem]];
  });

/** The payouts with an earlier transaction that this one does not exclude. */
function stillMineable(earlier: readonly EarlierSignature[], next: Exclusive): [string, ReasonName][] {
  const bySignature = Map.groupBy(earlier, ({ id, payoutId }) => `${id} ${payoutId}`);
  return [...bySignature.values()].flatMap((rows): [string, ReasonName][] => {
    const [first] = rows;
    return first === undefined || excludes(exclusiveOfEarlier(rows), next)
      ? []
      : [[first.payoutId, 'signedBefore']];
  });
}

function exclusiveOfEarlier(rows: readonly EarlierSignature[]): Exclusive {
  const [first] = rows;
  invariant(first !== undefined, 'a signature has a row');
  const { chain, wallet, nonce, isOver, validToHeight } = first;
  if (wallet !== null && nonce !== null) return { kind: 'evm', chain, wallet, nonce };
  if (validToHeight !== null) return { kind: 'solana', isOver };
  const inputs = rows.flatMap(({ outpoint, amount }) =>
    outpoint === null || amount === null ? [] : [{ outpoint, amount }],
  );
  return { kind: 'bitcoin', inputs };
}

/** What was cleared before, of the assets and accounts of these payouts. */
async function sumsFor(
  trx: Trx,
  payments: readonly OrderedPayment[],
  { holds, now, limits }: Collected,
): Promise<(asset: AssetSymbol, account: string) => Sums> {
  const accounts = [...new Set(payments.flatMap(({ payout }) => holds?.get(payout)?.account ?? []))];
  const ofAsset = new Map<AssetSymbol, (account: string) => Sums>();
  for (const { asset } of payments) {
    // Only where there is a limit: the sums are read for each order.
    if (limits[asset] !== undefined && !ofAsset.has(asset))
      ofAsset.set(asset, await clearedSums(trx, asset, accounts, now));
  }
  return (asset, account) => ofAsset.get(asset)?.(account) ?? noSums;
}
