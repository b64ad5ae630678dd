/** Remembers the newest so many keys; the one that was used longest ago goes first. */
export type RecentlySeen<V> = {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
};

export function recentlySeen<V>(max: number): RecentlySeen<V> {
  const kept = new Map<string, V>();
  const keep = (key: string, value: V) => {
    // A Map keeps its order of insertion.
    kept.delete(key);
    kept.set(key, value);
  };
  return {
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) keep(key, value);
      return value;
    },
    set(key, value) {
      keep(key, value);
      for (const oldest of kept.keys()) {
        if (kept.size <= max) return;
        kept.delete(oldest);
      }
    },
    delete: (key) => void kept.delete(key),
  };
}
