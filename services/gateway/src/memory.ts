import type { TokenId } from '@quittance/shared/ids';
import type { TokenUse } from './domain/token.ts';

export type RecentlySeen<V> = ReturnType<typeof recentlySeen<V>>;

/** Remembers the newest so many keys; the one that was used longest ago goes first. */
export function recentlySeen<V>(max: number) {
  // A Map keeps its order of insertion.
  const kept = new Map<string, V>();
  const set = (key: string, value: V) => {
    kept.delete(key);
    kept.set(key, value);
    const [oldest] = kept.keys();
    if (kept.size > max && oldest !== undefined) kept.delete(oldest);
  };
  return {
    get(key: string): V | undefined {
      const value = kept.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    delete: (key: string) => void kept.delete(key),
  };
}

/** A minute: nobody needs to know it better, and a busy token writes no row for each request. */
const NOTED_EVERY_MS = 60_000;

export type TokenUses = ReturnType<typeof createTokenUses>;

/** When tokens were used, and from where, kept until it is written. Losing it with the process loses at most a minute. */
export function createTokenUses() {
  const noted = new Map<TokenId, number>();
  let waiting = new Map<TokenId, TokenUse>();
  return {
    note(id: TokenId, now: Date, ip: string | undefined): void {
      const last = noted.get(id);
      if (last !== undefined && now.getTime() - last < NOTED_EVERY_MS) return;
      noted.set(id, now.getTime());
      waiting.set(id, { at: now, ip });
    },
    /** What has not been written yet; from now on it is the caller's. */
    take(): Map<TokenId, TokenUse> {
      const taken = waiting;
      waiting = new Map();
      const newest = Math.max(...[...taken.values()].map(({ at }) => at.getTime()), 0);
      for (const [id, at] of noted) if (newest - at >= NOTED_EVERY_MS) noted.delete(id);
      return taken;
    },
    /** Puts back what could not be written. */
    putBack(uses: ReadonlyMap<TokenId, TokenUse>): void {
      waiting = new Map([...uses, ...waiting]);
    },
  };
}
