import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { Cleared } from '../domain/clearance.ts';
import type { Exclusive, Input } from '../domain/exclusion.ts';
import { noSums, type Sums } from '../domain/limits.ts';
import type { SignerChain } from '../ports.ts';
import { type AskedOrder, exclusiveOf } from '../read-order.ts';
import {
  type ClearedPayout,
  clearedPayouts,
  clearedSums,
  DAY_MS,
  insertClearedPayouts,
} from '../store/cleared-payouts.ts';
import {
  costsSince,
  type EarlierSignature,
  earlierSignatures,
  insertSignatures,
  type NewSignature,
  spentInputs,
} from '../store/signatures.ts';
import { insertWalletOnce } from '../store/wallets.ts';
import type { Collected } from './collect-evidence.ts';

/** What was signed before an order of a request: as it is stored, and what the request has added. */
export type SigningHistory = {
  /** Payouts that were cleared, by their ids. */
  cleared: Map<string, Pick<ClearedPayout, 'asset' | 'amount' | 'destination'>>;
  /** By their ids, what decides of each transaction of these payouts whether another one can be mined too. */
  exclusive: Map<string, Exclusive[]>;
  /** Bitcoin's outputs that were signed for, with the amounts that were told. */
  spent: Input[];
  /** The most that the chain's transactions of the last 24 hours can cost. Only where there is a limit. */
  costs: Units;
  /** What was cleared of an asset, without what the request has added. Only where there is a limit. */
  sumsOf: (asset: AssetSymbol, account: string) => Sums;
  /** What the request has added, to be stored. */
  added: { cleared: Cleared[]; signatures: NewSignature[] };
};

/** Reads what is stored of all that new orders depend on, at once for all of them. The chain has to be locked. */
export async function readHistory(
  trx: Trx,
  { chain }: SignerChain,
  orders: readonly AskedOrder[],
  collected: Collected,
): Promise<SigningHistory> {
  const payouts = [...new Set(orders.flatMap((order) => order.payouts))];
  const outpoints = orders.flatMap(({ inputs }) => inputs.map(({ outpoint }) => outpoint));
  const { limits, now } = collected;
  const hasFeeLimit = limits[nativeAsset[chain]]?.fees_per_24h !== undefined && orders.length > 0;
  return {
    cleared: payouts.length === 0 ? new Map() : await clearedPayouts(trx, payouts),
    exclusive: payouts.length === 0 ? new Map() : exclusiveByPayout(await earlierSignatures(trx, payouts)),
    spent: outpoints.length === 0 ? [] : await spentInputs(trx, outpoints),
    costs: hasFeeLimit ? await costsSince(trx, chain, new Date(now.getTime() - DAY_MS)) : units(0n),
    sumsOf: await readSums(trx, orders, collected),
    added: { cleared: [], signatures: [] },
  };
}

function exclusiveByPayout(earlier: readonly EarlierSignature[]): Map<string, Exclusive[]> {
  const byPayout = new Map<string, Exclusive[]>();
  // Of a transaction with several inputs there is a row for each.
  for (const rows of Map.groupBy(earlier, ({ id, payoutId }) => `${id} ${payoutId}`).values()) {
    const [first] = rows;
    invariant(first !== undefined, 'a signature has a row');
    addTo(byPayout, first.payoutId, exclusiveOfEarlier(first, rows));
  }
  return byPayout;
}

function exclusiveOfEarlier(
  { chain, wallet, nonce, isOver, validToHeight }: EarlierSignature,
  rows: readonly EarlierSignature[],
): Exclusive {
  if (wallet !== null && nonce !== null) return { kind: 'evm', chain, wallet, nonce };
  if (validToHeight !== null) return { kind: 'solana', isOver };
  const inputs = rows.flatMap(({ outpoint, amount }) =>
    outpoint === null || amount === null ? [] : [{ outpoint, amount }],
  );
  return { kind: 'bitcoin', inputs };
}

async function readSums(
  trx: Trx,
  orders: readonly AskedOrder[],
  { holds, now, limits }: Collected,
): Promise<SigningHistory['sumsOf']> {
  const payments = orders.flatMap(({ payments: paid = [] }) => paid);
  const accounts = [...new Set(payments.flatMap(({ payout }) => holds?.get(payout)?.account ?? []))];
  const limited = new Set(payments.map(({ asset }) => asset).filter((asset) => limits[asset] !== undefined));
  const ofAsset = new Map<AssetSymbol, (account: string) => Sums>();
  for (const asset of limited) ofAsset.set(asset, await clearedSums(trx, asset, accounts, now));
  return (asset, account) => ofAsset.get(asset)?.(account) ?? noSums;
}

/** Adds a new signature: it counts for the orders after it. */
export function addSigned(
  history: SigningHistory,
  on: SignerChain,
  asked: AskedOrder,
  cleared: readonly Cleared[],
  signature: NewSignature,
): void {
  const { added } = history;
  for (const { payment } of cleared)
    history.cleared.set(payment.payout, { ...payment, destination: payment.to });
  for (const payout of asked.payouts) addTo(history.exclusive, payout, exclusiveOf(on, asked));
  history.spent.push(...asked.inputs);
  history.costs = (history.costs + signature.maxCost) as Units;
  added.cleared.push(...cleared);
  added.signatures.push(signature);
}

/** Stores what a request has added. */
export async function storeAdded(
  trx: Trx,
  { chain, signer }: SignerChain,
  { added }: SigningHistory,
  at: Date,
): Promise<void> {
  if (added.signatures.length === 0) return;
  await insertWalletOnce(trx, chain, signer.addresses.hotAddress);
  await insertClearedPayouts(trx, added.cleared, at);
  await insertSignatures(trx, chain, added.signatures, at);
}

function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}
