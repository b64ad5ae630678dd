import { sleep } from '@quittance/shared/clock';
import { type Logger, reason } from '@quittance/shared/logger';
import { startWorker, type Worker, withBatchPause } from '@quittance/shared/worker';
import { type Attempt, attemptDelivery, recordAttempts } from './operations/attempt-delivery.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  LEASE_MS,
  type Pool,
  renewClaims,
} from './operations/claim-deliveries.ts';
import type { Ports } from './ports.ts';

/** New deliveries to healthy endpoints. */
const FAST_MAX = 1_024;
/** Retries, and whatever goes to endpoints that fail, have never answered or do not answer at this moment. */
const SLOW_MAX = 512;
/** Both pools, and attempts that began in the fast one and hang. Nearly all of them wait for the receiver's server. */
const IN_FLIGHT_MAX = 2_048;
/** An attempt that takes longer leaves the fast pool, and its endpoint counts as slow until it ends. */
const SLOW_AFTER_MS = 1_000;

/** A batch of this size is not delayed to make it larger. */
const AT_ONCE_FROM = 100;
const CLAIM_EVERY_MS = 250;
const RECORD_EVERY_MS = 1_000;
const RENEW_EVERY_MS = LEASE_MS / 6;
/** Most attempts end before this. */
const RENEW_AFTER_MS = 1_000;
const STOP_WITHIN_MS = 3_000;

const RECORD_MAX = 500;
/** How many attempts of a failed batch are recorded one by one in a step, before newer attempts. */
const ALONE_AT_ONCE = 50;
/** The pause after an attempt that could not be recorded. */
const AGAIN_AFTER_MS = 1_000;

export type DeliveryWorker = {
  /** Call it when a delivery that is due now was stored. */
  wake(): void;
  stop(): Promise<void>;
};

/**
 * Claims, sends and records deliveries, each at its own pace, so that a receiver that hangs delays neither the next claim
 * nor the recording of other attempts. A crash loses no delivery: claims expire, and another process sends it again.
 * @param claimEveryMs how long a due delivery of which nobody has told this process may wait
 */
export function startDeliveryWorker(
  ports: Pick<Ports, 'db' | 'clock' | 'random' | 'logger' | 'tracer' | 'encryption' | 'sender' | 'attempted'>,
  claimEveryMs = CLAIM_EVERY_MS,
): DeliveryWorker {
  const { logger, sender } = ports;
  /** The deliveries that this process has claimed and not recorded yet, and when their attempts began. */
  const inFlight: InFlight = new Map();
  const writer = createAttemptWriter((attempts) => recordAttempts(ports, attempts), logger);

  const send = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      writer.add(await attemptDelivery(ports, delivery));
      recording.wake();
    } catch (error) {
      // The receiver is not to blame. The claim expires, and the delivery is sent again.
      logger.error({ event: delivery.id, reason: reason(error) }, 'a delivery could not be sent');
      inFlight.delete(delivery);
    }
  };

  const claim = (pool: Pool) => async (): Promise<number> => {
    const { [pool]: capacity, slowEndpoints } = capacityFor(inFlight, performance.now());
    if (capacity <= 0) return 0;
    const claimed = await claimDeliveries(ports, { pool, capacity, slowEndpoints });
    for (const delivery of claimed) {
      inFlight.set(delivery, performance.now());
      void send(delivery);
    }
    // This claim may have locked queues of healthy endpoints, which the other claim has skipped. Both workers exist by now.
    if (pool === 'slow' && claimed.length > 0) claimingFast.wake();
    return claimed.length;
  };

  const claiming = (pool: Pool): Worker =>
    startWorker({
      name: `claim for the ${pool} pool`,
      everyMs: claimEveryMs,
      step: () => withBatchPause(claim(pool), (count) => count === 0 || count >= AT_ONCE_FROM),
      logger,
    });
  // Two workers, so that healthy endpoints do not wait while the queues of others are read.
  const claimingFast = claiming('fast');
  const claimingSlow = claiming('slow');
  const wake = (): void => {
    claimingFast.wake();
    claimingSlow.wake();
  };

  const record = async (): Promise<number> => {
    const recorded = await writer.step();
    for (const { delivery } of recorded) inFlight.delete(delivery);
    // Waiting deliveries can use the free slots.
    if (recorded.length > 0) wake();
    return recorded.length;
  };

  const recording = startWorker({
    name: 'record attempts',
    everyMs: RECORD_EVERY_MS,
    step: () => withBatchPause(record, (count) => count === 0 || writer.size() >= AT_ONCE_FROM),
    logger,
  });

  const renewing = startWorker({
    name: 'renew claims',
    everyMs: RENEW_EVERY_MS,
    async step() {
      const running = startedBefore(inFlight, performance.now() - RENEW_AFTER_MS);
      if (running.length > 0) await renewClaims(ports, running);
      return 0;
    },
    logger,
  });

  const emptied = async (): Promise<void> => {
    const deadline = performance.now() + STOP_WITHIN_MS;
    while (inFlight.size > 0 && performance.now() < deadline) await sleep(10);
  };

  return {
    wake,
    async stop() {
      await Promise.all([claimingFast.stop(), claimingSlow.stop()]);
      await emptied();
      // Attempts that still hang are ended and released, so that another replica sends them at once.
      await sender.close();
      await emptied();
      await Promise.all([recording.stop(), renewing.stop()]);
    },
  };
}

type InFlight = Map<ClaimedDelivery, number>;

export const startedBefore = (inFlight: InFlight, timeMs: number): ClaimedDelivery[] =>
  [...inFlight].filter(([, startedMs]) => startedMs <= timeMs).map(([delivery]) => delivery);

/** How many more attempts each pool may begin now, and the endpoints that do not answer now. */
export function capacityFor(
  inFlight: InFlight,
  nowMs: number,
): Record<Pool, number> & { slowEndpoints: string[] } {
  const isFast = ({ pool }: ClaimedDelivery) => pool === 'fast';
  const hanging = startedBefore(inFlight, nowMs - SLOW_AFTER_MS).filter(isFast);
  const fast = [...inFlight.keys()].filter(isFast).length - hanging.length;
  const room = IN_FLIGHT_MAX - inFlight.size;
  return {
    fast: Math.max(0, Math.min(room, FAST_MAX - fast)),
    slow: Math.max(0, Math.min(room, SLOW_MAX - (inFlight.size - fast))),
    slowEndpoints: [...new Set(hanging.map(({ endpointKey }) => endpointKey))],
  };
}

/**
 * Holds attempts that have ended and records them in batches. When a batch fails, its attempts are recorded one by one, so
 * that one bad attempt does not block the others. A bad attempt is retried until it is recorded, or until this process ends
 * and another sends it again.
 * @param now a monotonic clock in milliseconds
 */
export function createAttemptWriter(
  record: (attempts: readonly Attempt[]) => Promise<void>,
  logger: Logger,
  now: () => number = () => performance.now(),
) {
  const ended: Attempt[] = [];
  const alone: Attempt[] = [];
  let aloneFrom = -Infinity;

  async function stepAlone(): Promise<Attempt[]> {
    const recorded: Attempt[] = [];
    while (recorded.length < ALONE_AT_ONCE && now() >= aloneFrom) {
      const attempt = alone.shift();
      if (attempt === undefined) break;
      try {
        await record([attempt]);
        recorded.push(attempt);
      } catch (error) {
        alone.push(attempt);
        aloneFrom = now() + AGAIN_AFTER_MS;
        const fields = { event: attempt.delivery.id, reason: reason(error) };
        logger.error(fields, 'an attempt could not be recorded');
      }
    }
    return recorded;
  }

  return {
    /** How many attempts are not recorded yet. */
    size: () => ended.length + alone.length,
    add: (attempt: Attempt) => void ended.push(attempt),
    /** Records the next attempts and returns them. Throws when a whole batch could not be recorded. */
    async step(): Promise<Attempt[]> {
      const recorded = await stepAlone();
      if (recorded.length > 0) return recorded;
      const batch = ended.splice(0, RECORD_MAX);
      try {
        if (batch.length > 0) await record(batch);
        return batch;
      } catch (error) {
        alone.push(...batch);
        throw error;
      }
    },
  };
}
