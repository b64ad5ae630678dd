import type { ClaimedDelivery, Pool } from './operations/claim-deliveries.ts';

/** New deliveries to healthy endpoints. */
const FAST_MAX = 1_024;
/** Retries, and whatever goes to endpoints that fail, have never answered or do not answer at this moment. */
const SLOW_MAX = 512;
/** Both pools, and attempts that began in the fast one and hang. Nearly all of them wait for the receiver's server. */
const IN_FLIGHT_MAX = 2_048;
/** An attempt that takes longer leaves the fast pool, and its endpoint counts as slow until it ends. */
const SLOW_AFTER_MS = 1_000;

/** The deliveries that this process has claimed and not recorded yet. */
export type InFlight = {
  readonly size: number;
  add(delivery: ClaimedDelivery): void;
  remove(delivery: ClaimedDelivery): void;
  /** The ones that began at least `ms` ago, the earliest first. */
  olderThan(ms: number): ClaimedDelivery[];
  /** How many more attempts each pool may begin now, and which endpoints are slow. */
  capacity(): Record<Pool, number> & { slowEndpoints: string[] };
};

/** @param now a monotonic clock in milliseconds */
export function trackInFlight(now: () => number = () => performance.now()): InFlight {
  // Maps and sets keep the order in which the attempts began.
  const begun = new Map<ClaimedDelivery, number>();
  const fast = new Set<ClaimedDelivery>();
  const slow = new Map<ClaimedDelivery, string>();

  function moveSlowOnes(): void {
    const limit = now() - SLOW_AFTER_MS;
    for (const delivery of fast) {
      if ((begun.get(delivery) ?? 0) > limit) return;
      fast.delete(delivery);
      slow.set(delivery, delivery.endpointKey);
    }
  }

  return {
    get size() {
      return begun.size;
    },
    add(delivery) {
      begun.set(delivery, now());
      if (delivery.pool === 'fast') fast.add(delivery);
    },
    remove(delivery) {
      begun.delete(delivery);
      fast.delete(delivery);
      slow.delete(delivery);
    },
    olderThan(ms) {
      const limit = now() - ms;
      const older: ClaimedDelivery[] = [];
      for (const [delivery, at] of begun) {
        if (at > limit) break;
        older.push(delivery);
      }
      return older;
    },
    capacity() {
      moveSlowOnes();
      const free = IN_FLIGHT_MAX - begun.size;
      return {
        fast: Math.max(0, Math.min(free, FAST_MAX - fast.size)),
        slow: Math.max(0, Math.min(free, SLOW_MAX - (begun.size - fast.size))),
        slowEndpoints: [...new Set(slow.values())],
      };
    },
  };
}
