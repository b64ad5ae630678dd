import { type AssetSymbol, assets, type Chain, chainKinds } from '@quittance/shared/assets';
import type { BalanceSnapshots, MoneyLocation } from './balance-snapshots.ts';
import type { ChainDiscrepancy } from './chain-invariants.ts';
import type { ChainObserver, ObservedTransaction } from './chain-observer.ts';
import type { ChainRecords } from './chain-records.ts';
import { hashesOf, observeTransactions } from './observe-transactions.ts';

/** I6: what is owed of each asset against what lies on the chain. */
export async function compareReserves(
  records: ChainRecords,
  observed: Map<string, ObservedTransaction>,
  chain: Chain,
  observer: ChainObserver,
  balances: BalanceSnapshots,
): Promise<ChainDiscrepancy[]> {
  const { owed, hot, held, utxos, dropped, payouts, transactions } = records;
  const locations = new Map(owed.map(({ asset }) => [asset, locationsOf(records, asset, chain)]));
  const first = new Map<AssetSymbol, bigint>();
  for (const [asset, all] of locations) {
    first.set(asset, await observeBalances(balances.toAsk(asset, all), asset, all, observer, balances));
  }
  // A mined payout whose hold is still placed: its money has left the chain, and is still part of what we owe.
  const payoutsHeld = payouts.filter(({ is_held }) => is_held);
  const replacementGroupsHeld = new Set(payoutsHeld.map(({ group_id }) => group_id));
  const sent = transactions.filter(({ group_id }) => replacementGroupsHeld.has(group_id));
  await observeTransactions(observer, hashesOf({ transactions: sent, costs: [] }), observed);
  const paid = sent.filter(({ tx_hash }) => observed.get(tx_hash)?.succeeded === true);
  const left = new Set(paid.map(({ group_id }) => group_id));
  const leaving = payoutsHeld.filter(({ group_id }) => left.has(group_id));
  const sumOf = (rows: readonly { asset: AssetSymbol; amount: string }[], asset: AssetSymbol) =>
    rows.filter((row) => row.asset === asset).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const discrepancies: ChainDiscrepancy[] = [];
  const backing = new Map<AssetSymbol, { owed: bigint; there: bigint }>();
  for (const { asset, amount } of owed) {
    const all = locations.get(asset) ?? [];
    const expected = sumOf(leaving, asset) + sumOf(dropped, asset);
    let lies = first.get(asset) ?? 0n;
    // Remembered balances may be out of date: all are asked again before money is reported missing.
    if (BigInt(amount) > lies + expected) lies = await observeBalances(all, asset, all, observer, balances);
    const short = BigInt(amount) - lies - expected;
    backing.set(asset, { owed: BigInt(amount), there: lies + expected });
    if (short <= 0n) continue;
    const { decimals } = assets[asset];
    const addresses = held.filter((one) => one.asset === asset);
    discrepancies.push({
      invariant: 'I6',
      asset,
      subject: `${asset} is short`,
      amount: short,
      what:
        `${asset} is short of ${short}: ${amount} is owed, ${lies + expected} lies on ${chain} ` +
        `(units of 10^-${decimals}; ${addresses.length} deposit addresses, ${utxos.length} UTXOs, ${hot.length} hot wallets)`,
    });
  }
  balances.backing = backing;
  return discrepancies;
}

function locationsOf({ utxos, hot, held }: ChainRecords, asset: AssetSymbol, chain: Chain): MoneyLocation[] {
  if (chainKinds[chain] === 'bitcoin') return utxos.map((at) => ({ at, amount: '', moving: true }));
  return [
    ...hot.map((at) => ({ at, amount: '', moving: true })),
    ...held
      .filter((one) => one.asset === asset && !hot.includes(one.address))
      .map(({ address, amount, moving }) => ({ at: address, amount, moving })),
  ];
}

async function observeBalances(
  asked: readonly MoneyLocation[],
  asset: AssetSymbol,
  all: readonly MoneyLocation[],
  observer: ChainObserver,
  balances: BalanceSnapshots,
): Promise<bigint> {
  const amounts = await observer.reserves(
    asset,
    asked.map(({ at }) => at),
  );
  balances.note(asset, asked, amounts);
  balances.keepOnly(asset, all);
  return balances.sum(asset, all);
}
