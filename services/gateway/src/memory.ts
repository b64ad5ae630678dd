import type { TokenId } from '@quittance/shared/ids';

/** Remembers the newest so many keys; the one that was used longest ago goes first. */
export type RecentlySeen<V> = {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
};

export function recentlySeen<V>(max: number): RecentlySeen<V> {
  // A Map keeps its order of insertion.
  const kept = new Map<string, V>();
  const set = (key: string, value: V) => {
    kept.delete(key);
    kept.set(key, value);
    const [oldest] = kept.keys();
    if (kept.size > max && oldest !== undefined) kept.delete(oldest);
  };
  return {
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    delete: (key) => void kept.delete(key),
  };
}

/** A minute: nobody needs to know it better, and a busy token writes no row for each request. */
const NOTED_EVERY_MS = 60_000;

/** When tokens were used, kept until it is written. Losing it with the process loses at most a minute. */
export type TokenUses = {
  note(id: TokenId, now: Date): void;
  /** What has not been written yet; from now on it is the caller's. */
  take(): Map<TokenId, Date>;
  /** Puts back what could not be written. */
  putBack(uses: ReadonlyMap<TokenId, Date>): void;
};

export function createTokenUses(): TokenUses {
  const noted = new Map<TokenId, number>();
  let waiting = new Map<TokenId, Date>();
  return {
    note(id, now) {
      const last = noted.get(id);
      if (last !== undefined && now.getTime() - last < NOTED_EVERY_MS) return;
      noted.set(id, now.getTime());
      waiting.set(id, now);
    },
    take() {
      const taken = waiting;
      waiting = new Map();
      const newest = Math.max(...[...taken.values()].map((at) => at.getTime()), 0);
      for (const [id, at] of noted) if (newest - at >= NOTED_EVERY_MS) noted.delete(id);
      return taken;
    },
    putBack(uses) {
      waiting = new Map([...uses, ...waiting]);
    },
  };
}
