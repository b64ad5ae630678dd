import { sleep } from '@quittance/shared/clock';
import { reason } from '@quittance/shared/logger';
import { startWorker, type Worker } from '@quittance/shared/worker';
import { type Attempt, attemptDelivery } from './operations/attempt-delivery.ts';
import { type ClaimedDelivery, claimDeliveries } from './operations/claim-deliveries.ts';
import { recordAttempts } from './operations/record-attempts.ts';
import { renewClaims } from './operations/renew-claims.ts';
import { takeBackDeliveries } from './operations/take-back-deliveries.ts';
import type { Ports } from './ports.ts';

/** Attempts under way at once in this process. Nearly all of them wait for somebody else's server. */
const IN_FLIGHT_MAX = 1_024;
const RECORD_MAX = 200;
const CLAIM_EVERY_MS = 250;
const RENEW_EVERY_MS = 1_000;
/** A claim that has less than this left is renewed; most attempts end long before. */
const RENEW_BEFORE_MS = 4_000;
const TAKE_BACK_EVERY_MS = 2_000;
const STOP_WITHIN_MS = 3_000;

export type Workers = {
  /** Something was stored that is due now. */
  kick(): void;
  stop(): Promise<void>;
};

export function startWorkers(ports: Ports): Workers {
  const { logger } = ports;
  const courier = startCourier(ports);
  const takingBack = startWorker({
    name: 'take back deliveries',
    everyMs: TAKE_BACK_EVERY_MS,
    step: () => takeBackDeliveries(ports),
    logger,
  });
  return {
    kick: courier.kick,
    async stop() {
      await Promise.all([courier.stop(), takingBack.stop()]);
    },
  };
}

/**
 * Claims, sends and records, each at its own pace, so that a receiver that hangs holds up neither the next claim
 * nor the record of those that answered. What it has in memory is under claims that run out: losing it costs time.
 */
function startCourier(ports: Ports): Workers {
  const { clock, logger, poster } = ports;
  /** What this process has claimed and not recorded yet, and until when others believe that. */
  const underWay = new Map<ClaimedDelivery, Date>();
  const ended: Attempt[] = [];

  const send = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      ended.push(await attemptDelivery(ports, delivery));
      recording.kick();
    } catch (error) {
      // Nothing of it is the receiver's doing: its claim runs out, and then it is tried again.
      logger.error({ event: delivery.id, reason: reason(error) }, 'a delivery could not be sent');
      underWay.delete(delivery);
    }
  };

  const claiming: Worker = startWorker({
    name: 'claim deliveries',
    everyMs: CLAIM_EVERY_MS,
    async step() {
      const free = IN_FLIGHT_MAX - underWay.size;
      if (free <= 0) return 0;
      const claimed = await claimDeliveries(ports, free);
      for (const delivery of claimed) {
        underWay.set(delivery, delivery.claimedUntil);
        void send(delivery);
      }
      return claimed.length;
    },
    logger,
  });

  const recording: Worker = startWorker({
    name: 'record attempts',
    everyMs: 1_000,
    async step() {
      const batch = ended.slice(0, RECORD_MAX);
      if (batch.length === 0) return 0;
      await recordAttempts(ports, batch);
      ended.splice(0, batch.length);
      for (const { delivery } of batch) underWay.delete(delivery);
      // Slots are free, and a lane that was full may have become due.
      claiming.kick();
      return batch.length;
    },
    logger,
  });

  const renewing: Worker = startWorker({
    name: 'renew claims',
    everyMs: RENEW_EVERY_MS,
    async step() {
      const soon = clock.now().getTime() + RENEW_BEFORE_MS;
      const running = [...underWay]
        .filter(([, until]) => until.getTime() < soon)
        .map(([delivery]) => delivery);
      if (running.length === 0) return 0;
      const until = await renewClaims(ports, running);
      for (const delivery of running) if (underWay.has(delivery)) underWay.set(delivery, until);
      return 0;
    },
    logger,
  });

  const emptied = async (): Promise<void> => {
    const deadline = performance.now() + STOP_WITHIN_MS;
    while (underWay.size > 0 && performance.now() < deadline) await sleep(10);
  };

  return {
    kick: () => claiming.kick(),
    async stop() {
      await claiming.stop();
      await emptied();
      // What still hangs is ended and given back, so that another replica sends it at once.
      await poster.close();
      await emptied();
      await Promise.all([recording.stop(), renewing.stop()]);
    },
  };
}
