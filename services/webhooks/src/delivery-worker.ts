import { sleep } from '@quittance/shared/clock';
import { reason } from '@quittance/shared/logger';
import { startWorker, type Worker, withBatchPause } from '@quittance/shared/worker';
import { createAttemptWriter } from './attempt-writer.ts';
import { trackInFlight } from './in-flight.ts';
import { attemptDelivery } from './operations/attempt-delivery.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  LEASE_MS,
  type Pool,
  renewClaims,
} from './operations/claim-deliveries.ts';
import { recordAttempts } from './operations/record-attempts.ts';
import type { Ports } from './ports.ts';

/** A batch of this size is not delayed to make it larger. */
const AT_ONCE_FROM = 100;
const CLAIM_EVERY_MS = 250;
const RENEW_EVERY_MS = LEASE_MS / 6;
/** Most attempts end before this. */
const RENEW_AFTER_MS = 1_000;
const STOP_WITHIN_MS = 3_000;

export type DeliveryWorker = {
  /** Call it when a delivery that is due now was stored. */
  wake(): void;
  stop(): Promise<void>;
};

/**
 * Claims, sends and records deliveries, each at its own pace, so that a receiver that hangs delays neither the next claim
 * nor the recording of other attempts. A crash loses no delivery: claims expire, and another process sends it again.
 */
export function startDeliveryWorker(
  ports: Pick<Ports, 'db' | 'clock' | 'random' | 'logger' | 'encryption' | 'sender' | 'attempted'>,
): DeliveryWorker {
  const { logger, sender } = ports;
  const inFlight = trackInFlight();
  const writer = createAttemptWriter((attempts) => recordAttempts(ports, attempts), logger);

  const send = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      writer.add(await attemptDelivery(ports, delivery));
      recording.wake();
    } catch (error) {
      // The receiver is not to blame. The claim expires, and the delivery is sent again.
      logger.error({ event: delivery.id, reason: reason(error) }, 'a delivery could not be sent');
      inFlight.remove(delivery);
    }
  };

  const claim = async (pool: Pool): Promise<number> => {
    const { [pool]: capacity, slowEndpoints } = inFlight.capacity();
    if (capacity <= 0) return 0;
    const claimed = await claimDeliveries(ports, { pool, capacity, slowEndpoints });
    for (const delivery of claimed) {
      inFlight.add(delivery);
      void send(delivery);
    }
    return claimed.length;
  };

  const claiming = (name: string, step: () => Promise<number>): Worker =>
    startWorker({
      name,
      everyMs: CLAIM_EVERY_MS,
      step: () => withBatchPause(step, (count) => count === 0 || count >= AT_ONCE_FROM),
      logger,
    });

  // Two workers, so that healthy endpoints do not wait while the queues of others are read.
  const claimingFast = claiming('claim for the fast pool', () => claim('fast'));
  const claimingSlow = claiming('claim for the slow pool', async () => {
    const count = await claim('slow');
    // This claim may have locked queues of healthy endpoints, which the other claim has skipped.
    if (count > 0) claimingFast.wake();
    return count;
  });
  const wake = (): void => {
    claimingFast.wake();
    claimingSlow.wake();
  };

  const record = async (): Promise<number> => {
    const recorded = await writer.step();
    for (const { delivery } of recorded) inFlight.remove(delivery);
    // Waiting deliveries can use the free slots.
    if (recorded.length > 0) wake();
    return recorded.length;
  };

  const recording: Worker = startWorker({
    name: 'record attempts',
    everyMs: 1_000,
    step: () => withBatchPause(record, (count) => count === 0 || writer.size >= AT_ONCE_FROM),
    logger,
  });

  const renewing: Worker = startWorker({
    name: 'renew claims',
    everyMs: RENEW_EVERY_MS,
    async step() {
      const running = inFlight.olderThan(RENEW_AFTER_MS);
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
