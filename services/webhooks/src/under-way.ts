import type { Room } from './domain/health.ts';
import type { ClaimedDelivery } from './operations/claim-deliveries.ts';

/** First attempts under way at once at endpoints that answer. */
const PROMPT_MAX = 1_024;
/** Retries, and what goes to endpoints that fail, were never reached or do not answer at this moment. */
const DOUBTFUL_MAX = 512;
/** With those that began as prompt ones and hang. Nearly all of them wait for somebody else's server. */
const IN_FLIGHT_MAX = 2_048;
/** An attempt that takes longer than this is doubtful, and with it its endpoint, as long as it goes on. */
const SLOW_MS = 1_000;

/** What this process has claimed and not recorded yet. */
export type UnderWay = {
  readonly size: number;
  add(delivery: ClaimedDelivery): void;
  remove(delivery: ClaimedDelivery): void;
  /** Begun at least so long ago, the earliest first. */
  olderThan(ms: number): ClaimedDelivery[];
  /** How many more may be begun now, and which endpoints are slow. */
  room(): { room: Room; slow: string[] };
};

/** @param now milliseconds that only grow */
export function trackUnderWay(now: () => number = () => performance.now()): UnderWay {
  // In the order in which they began.
  const begun = new Map<ClaimedDelivery, number>();
  const prompt = new Set<ClaimedDelivery>();
  const slow = new Map<ClaimedDelivery, string>();

  /** Those that began as prompt and still go on make room for others. */
  function sortOutSlow(): void {
    const limit = now() - SLOW_MS;
    for (const delivery of prompt) {
      if ((begun.get(delivery) ?? 0) > limit) return;
      prompt.delete(delivery);
      slow.set(delivery, delivery.endpointKey);
    }
  }

  return {
    get size() {
      return begun.size;
    },
    add(delivery) {
      begun.set(delivery, now());
      if (delivery.prompt) prompt.add(delivery);
    },
    remove(delivery) {
      begun.delete(delivery);
      prompt.delete(delivery);
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
    room() {
      sortOutSlow();
      const free = IN_FLIGHT_MAX - begun.size;
      return {
        room: {
          prompt: Math.max(0, Math.min(free, PROMPT_MAX - prompt.size)),
          doubtful: Math.max(0, Math.min(free, DOUBTFUL_MAX - (begun.size - prompt.size))),
        },
        slow: [...new Set(slow.values())],
      };
    },
  };
}
