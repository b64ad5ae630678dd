import { type AssetSymbol, assets, type Chain, chainKinds, nativeAsset } from '@quittance/shared/assets';
import type { BalanceSnapshots, MoneyLocation, ReserveSides } from './balance-snapshots.ts';
import type { ChainDiscrepancy } from './chain-invariants.ts';
import type { ChainObserver, ObservedTransaction } from './chain-observer.ts';
import type { ChainRecords } from './chain-records.ts';
import type { LateTransactions } from './late-transactions.ts';
import { observeTransactions } from './observe-transactions.ts';
import type { AssetAmount, ReserveRecords } from './reserve-records.ts';

/** Asked after the balances, see `readLateTransactions`. */
export type ReadLate = () => Promise<LateTransactions>;

/**
 * I6: what lies on the chain against what is booked, to the unit: all that came less all that left, and the operator's
 * funds. Until these were measured, what lies there must cover what is owed.
 */
export async function compareReserves(
  records: ChainRecords,
  observed: Map<string, ObservedTransaction>,
  chain: Chain,
  observer: ChainObserver,
  balances: BalanceSnapshots,
  readLate: ReadLate,
): Promise<ChainDiscrepancy[]> {
  const { reserves } = records;
  const compared = [
    ...new Set([...reserves.owed, ...reserves.booked, ...reserves.funds].map(({ asset }) => asset)),
  ];
  const locations = new Map(compared.map((asset) => [asset, locationsOf(records, asset, chain)]));
  const lies = new Map<AssetSymbol, bigint>();
  for (const [asset, all] of locations)
    lies.set(asset, await observeBalances(balances.toAsk(asset, all), asset, all, observer, balances));
  let sides = await readSides();
  const shortOnes = () => [...sides].filter(([, one]) => shortage(one) > 0n);
  // Remembered balances may be out of date: all are asked again before money is reported missing.
  const suspected = shortOnes();
  if (suspected.length > 0) {
    for (const [asset] of suspected) {
      const all = locations.get(asset) ?? [];
      lies.set(asset, await observeBalances(all, asset, all, observer, balances));
    }
    sides = await readSides();
  }
  balances.leftLately = reserves.leftLately;
  balances.backing = sides;
  return shortOnes().map(([asset, one]) => nameShortage(records, asset, chain, one));

  async function readSides(): Promise<Map<AssetSymbol, ReserveSides>> {
    const motion = await observeMotion(records, observed, chain, observer, await readLate());
    return new Map(compared.map((asset) => [asset, sidesOf(reserves, motion, asset, lies.get(asset) ?? 0n)]));
  }
}

function sidesOf(reserves: ReserveRecords, motion: Motion, asset: AssetSymbol, lies: bigint): ReserveSides {
  const on = (rows: readonly AssetAmount[]) => sumOf(rows, asset);
  const there = lies + on(motion.left) + on(reserves.dropped);
  const accountedFor = on(motion.spent) + on(reserves.leftBehind) + on(reserves.leftLately);
  return {
    owed: on(reserves.owed),
    there,
    beyond: there + accountedFor - on(reserves.booked) - on(reserves.unbooked),
    funds: reserves.funds.some((one) => one.asset === asset) ? on(reserves.funds) : undefined,
    isStill: motion.isStill,
  };
}

function shortage({ owed, there, beyond, funds }: ReserveSides): bigint {
  const uncovered = owed - there;
  const lost = funds === undefined ? 0n : funds - beyond;
  if (lost > uncovered) return lost;
  return uncovered;
}

function nameShortage(
  { reserves: { held, utxos, hot } }: ChainRecords,
  asset: AssetSymbol,
  chain: Chain,
  sides: ReserveSides,
): ChainDiscrepancy {
  const short = shortage(sides);
  const { decimals } = assets[asset];
  const addresses = held.filter((one) => one.asset === asset);
  const { owed, there, beyond, funds } = sides;
  const own = funds === undefined ? '' : `, ${beyond} of it the operator's, who had ${funds}`;
  return {
    invariant: 'I6',
    asset,
    subject: `${asset} is short`,
    amount: short,
    what:
      `${asset} is short of ${short}: ${owed} is owed, ${there} lies on ${chain}${own} ` +
      `(units of 10^-${decimals}; ${addresses.length} deposit addresses, ${utxos.length} UTXOs, ${hot.length} hot wallets)`,
  };
}

type Motion = {
  /** Paid out in the chain, and still booked. */
  left: AssetAmount[];
  /** Costs that the chain has taken and the ledger has not booked. */
  spent: AssetAmount[];
  isStill: boolean;
};

/** What has left the chain by transactions of ours and is not booked yet. */
async function observeMotion(
  { payouts, transactions, costs, reserves }: ChainRecords,
  observed: Map<string, ObservedTransaction>,
  chain: Chain,
  observer: ChainObserver,
  late: LateTransactions,
): Promise<Motion> {
  const known = new Set(costs.map(({ tx_hash }) => tx_hash));
  const toldOf = new Set(reserves.spent.map(({ tx_hash }) => tx_hash));
  const payoutsHeld = [...payouts.filter(({ is_held }) => is_held), ...late.payouts];
  const groupsHeld = new Set(payoutsHeld.map(({ group_id }) => group_id));
  const all = [...transactions, ...late.transactions];
  const isOpen = ({ group_id, tx_hash }: (typeof all)[number]) =>
    groupsHeld.has(group_id) || !(known.has(tx_hash) || toldOf.has(tx_hash));
  const mayLeave = transactions.filter(({ may_leave }) => may_leave);
  const asked = [...all.filter(isOpen), ...mayLeave].map(({ tx_hash }) => tx_hash);
  await observeTransactions(observer, asked, observed);
  const left = new Set(
    all.filter(({ tx_hash }) => observed.get(tx_hash)?.succeeded === true).map(({ group_id }) => group_id),
  );
  // A payout may be among the late ones too, when its fee was raised meanwhile.
  const leaving = new Map(
    payoutsHeld.filter(({ group_id }) => left.has(group_id)).map((one) => [one.id, one]),
  );
  const asset = nativeAsset[chain];
  const taken = all.flatMap(({ tx_hash }) => {
    const cost = observed.get(tx_hash)?.cost;
    return cost === undefined || known.has(tx_hash) || toldOf.has(tx_hash) ? [] : [cost.toString()];
  });
  return {
    left: [...leaving.values()],
    spent: [...reserves.spent.map(({ amount }) => amount), ...taken].map((amount) => ({ asset, amount })),
    isStill:
      late.transactions.length === 0 &&
      reserves.dropped.length === 0 &&
      // What has left the chain for a while comes back.
      mayLeave.every(({ tx_hash }) => observed.has(tx_hash)) &&
      !reserves.held.some(({ moving }) => moving) &&
      !transactions.some(({ state }) => state === 'signed' || state === 'broadcast'),
  };
}

const sumOf = (rows: readonly AssetAmount[], asset: AssetSymbol): bigint =>
  rows.filter((row) => row.asset === asset).reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/**
 * The hot wallet last: a sweep that lands while Solana's node is asked is then seen twice, and not missed. On Bitcoin what a
 * transaction that has left the chain for a while has spent is there again.
 */
function locationsOf(
  { reserves: { utxos, hot, held }, inputs }: ChainRecords,
  asset: AssetSymbol,
  chain: Chain,
): MoneyLocation[] {
  if (chainKinds[chain] === 'bitcoin') {
    const spent = inputs.flatMap(({ input }) => ('outpoint' in input ? [input.outpoint] : []));
    return [...new Set([...utxos, ...spent])].map((at) => ({ at, amount: '', moving: true }));
  }
  return [
    ...held
      .filter((one) => one.asset === asset && !hot.includes(one.address))
      .map(({ address, amount, moving }) => ({ at: address, amount, moving })),
    ...hot.map((at) => ({ at, amount: '', moving: true })),
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
