import type { AssetSymbol } from '@quittance/shared/assets';

/** Where money is said to lie, and how much, by the books. */
export type Place = {
  at: string;
  /** What the books say of it: when that has changed the chain is asked again. */
  amount: string;
  /** It is being moved, or moves by itself: always asked. */
  moving: boolean;
};

/** Of those that nothing is said to have happened to, so many are asked again at each look, in turn. */
const ASKED_AGAIN = 200;

/**
 * What was seen at our addresses, so that a look every minute does not ask a node thousands of times for what lies
 * still. Each is asked again in its turn, and all of them before anything is said to be missing.
 */
export class SeenBalances {
  readonly #seen = new Map<string, { amount: bigint; books: string; look: number }>();
  #looks = 0;
  /** What was owed of each asset, and what lay there for it or was on its way, when that was compared last. */
  backing: ReadonlyMap<AssetSymbol, { owed: bigint; there: bigint }> = new Map();

  /** Which of these places must be asked now. */
  toAsk(asset: AssetSymbol, places: readonly Place[]): Place[] {
    this.#looks += 1;
    const [still, others] = [[] as { place: Place; look: number }[], [] as Place[]];
    for (const place of places) {
      const known = this.#seen.get(`${asset} ${place.at}`);
      if (known === undefined || place.moving || known.books !== place.amount) others.push(place);
      else still.push({ place, look: known.look });
    }
    const turn = still.sort((a, b) => a.look - b.look).slice(0, ASKED_AGAIN);
    return [...others, ...turn.map(({ place }) => place)];
  }

  note(asset: AssetSymbol, asked: readonly Place[], amounts: readonly bigint[]): void {
    for (const [i, { at, amount: books }] of asked.entries()) {
      this.#seen.set(`${asset} ${at}`, { amount: amounts[i] ?? 0n, books, look: this.#looks });
    }
  }

  sum(asset: AssetSymbol, places: readonly Place[]): bigint {
    return places.reduce((sum, { at }) => sum + (this.#seen.get(`${asset} ${at}`)?.amount ?? 0n), 0n);
  }

  /** Forgets what is not among these any more: swept, or spent. */
  keepOnly(asset: AssetSymbol, places: readonly Place[]): void {
    const wanted = new Set(places.map(({ at }) => `${asset} ${at}`));
    for (const key of this.#seen.keys()) {
      if (key.startsWith(`${asset} `) && !wanted.has(key)) this.#seen.delete(key);
    }
  }
}
