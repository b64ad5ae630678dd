import type { AssetSymbol } from '@quittance/shared/assets';
import type { SweepRemain } from './reserve-records.ts';

/** Of one asset at one moment, in base units. */
export type ReserveSides = {
  owed: bigint;
  /** What lies on the chain or will come back to it. */
  there: bigint;
  /** What of it is not booked, as merchants' money or as earned: the operator's. */
  beyond: bigint;
  /** The operator's funds as they were measured; undefined: never. */
  funds: bigint | undefined;
  /** No transaction of ours is on its way: nothing of what lies there is about to change. */
  isStill: boolean;
};

/** An address and the amount on it, by the records. */
export type MoneyLocation = {
  at: string;
  /** Its amount in the records, and empty where these do not say: when it has changed, the chain is asked again. */
  amount: string;
  /** Its balance changes by itself or is being moved: always asked. */
  moving: boolean;
};

/** Of those that nothing is said to have happened to, so many are asked again at each observer, in turn. */
const ASKED_AGAIN = 200;

/**
 * The balances that a node has shown for our addresses, so that a comparison every minute does not ask a node thousands
 * of times for money that does not move. Each is asked again in its turn, and all of them before money is reported missing.
 */
export class BalanceSnapshots {
  readonly #balances = new Map<string, { amount: bigint; books: string; comparison: number }>();
  #comparisons = 0;
  /** What was owed of each asset and what lay on the chain, at the last comparison. */
  backing: ReadonlyMap<AssetSymbol, ReserveSides> = new Map();
  /** What sweeps have left at their addresses, of those that were not stored by then. */
  leftLately: readonly SweepRemain[] = [];

  /** The locations that must be asked now. */
  toAsk(asset: AssetSymbol, locations: readonly MoneyLocation[]): MoneyLocation[] {
    this.#comparisons += 1;
    const [still, others] = [[] as { location: MoneyLocation; comparison: number }[], [] as MoneyLocation[]];
    for (const location of locations) {
      const known = this.#balances.get(`${asset} ${location.at}`);
      if (known === undefined || location.moving || known.books !== location.amount) others.push(location);
      else still.push({ location, comparison: known.comparison });
    }
    const turn = still.sort((a, b) => a.comparison - b.comparison).slice(0, ASKED_AGAIN);
    return [...others, ...turn.map(({ location }) => location)];
  }

  note(asset: AssetSymbol, asked: readonly MoneyLocation[], amounts: readonly bigint[]): void {
    for (const [i, { at, amount: books }] of asked.entries()) {
      this.#balances.set(`${asset} ${at}`, {
        amount: amounts[i] ?? 0n,
        books,
        comparison: this.#comparisons,
      });
    }
  }

  /**
   * At a deposit address no more than is booked there: what else came to it may be written down later, and is no money of the
   * operator's.
   */
  sum(asset: AssetSymbol, locations: readonly MoneyLocation[]): bigint {
    return locations.reduce((sum, { at, amount }) => {
      const there = this.#balances.get(`${asset} ${at}`)?.amount ?? 0n;
      return sum + (amount !== '' && there > BigInt(amount) ? BigInt(amount) : there);
    }, 0n);
  }

  /** Forgets locations that are no longer used: swept, or spent. */
  keepOnly(asset: AssetSymbol, locations: readonly MoneyLocation[]): void {
    const wanted = new Set(locations.map(({ at }) => `${asset} ${at}`));
    for (const key of this.#balances.keys()) {
      if (key.startsWith(`${asset} `) && !wanted.has(key)) this.#balances.delete(key);
    }
  }
}
