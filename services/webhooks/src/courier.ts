import { sleep } from '@quittance/shared/clock';
import { thenGather } from '@quittance/shared/gather-pause';
import { reason } from '@quittance/shared/logger';
import { startWorker, type Worker } from '@quittance/shared/worker';
import type { Room } from './domain/health.ts';
import { attemptDelivery } from './operations/attempt-delivery.ts';
import { type ClaimedDelivery, claimDeliveries, LEASE_MS } from './operations/claim-deliveries.ts';
import { recordAttempts } from './operations/record-attempts.ts';
import { renewClaims } from './operations/renew-claims.ts';
import type { Ports } from './ports.ts';
import { createRecorder } from './recorder.ts';
import { trackUnderWay } from './under-way.ts';

/** So many are worth a transaction of their own: more are not gathered. */
const AT_ONCE_FROM = 100;
const CLAIM_EVERY_MS = 250;
const RENEW_EVERY_MS = LEASE_MS / 6;
/** Most attempts end before this. */
const RENEW_AFTER_MS = 1_000;
const STOP_WITHIN_MS = 3_000;

export type Courier = {
  /** Something was stored that is due now. */
  kick(): void;
  stop(): Promise<void>;
};

/**
 * Claims, sends and records, each at its own pace, so that a receiver that hangs holds up neither the next claim
 * nor the record of those that answered. What it has in memory is under claims that run out: losing it costs time.
 */
export function startCourier(
  ports: Pick<Ports, 'db' | 'clock' | 'random' | 'logger' | 'seal' | 'poster' | 'attempted'>,
): Courier {
  const { logger, poster } = ports;
  const underWay = trackUnderWay();
  const recorder = createRecorder((attempts) => recordAttempts(ports, attempts), logger);

  const send = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      recorder.add(await attemptDelivery(ports, delivery));
      recording.kick();
    } catch (error) {
      // Nothing of it is the receiver's doing: its claim runs out, and then it is tried again.
      logger.error({ event: delivery.id, reason: reason(error) }, 'a delivery could not be sent');
      underWay.remove(delivery);
    }
  };

  const claim = async (of: keyof Room): Promise<number> => {
    const { room, slow } = underWay.room();
    if (room[of] <= 0) return 0;
    const own = { prompt: 0, doubtful: 0, [of]: room[of] };
    const claimed = await claimDeliveries(ports, own, { slow, retriesToo: room.doubtful > 0 });
    for (const delivery of claimed) {
      underWay.add(delivery);
      void send(delivery);
    }
    return claimed.length;
  };

  const claiming = (name: string, step: () => Promise<number>): Worker =>
    startWorker({
      name,
      everyMs: CLAIM_EVERY_MS,
      step: () => thenGather(step, (count) => count === 0 || count >= AT_ONCE_FROM),
      logger,
    });

  // Each at its own pace: what is prompt does not wait while endpoints that fail are looked through.
  const claimingPrompt = claiming('claim what is prompt', () => claim('prompt'));
  const claimingDoubtful = claiming('claim what is doubtful', async () => {
    const count = await claim('doubtful');
    // It may have held lanes that have news too.
    if (count > 0) claimingPrompt.kick();
    return count;
  });
  const kick = (): void => {
    claimingPrompt.kick();
    claimingDoubtful.kick();
  };

  const record = async (): Promise<number> => {
    const recorded = await recorder.step();
    for (const { delivery } of recorded) underWay.remove(delivery);
    // Slots are free, and a lane that was full may have become due.
    if (recorded.length > 0) kick();
    return recorded.length;
  };

  const recording: Worker = startWorker({
    name: 'record attempts',
    everyMs: 1_000,
    step: () => thenGather(record, (count) => count === 0 || recorder.size >= AT_ONCE_FROM),
    logger,
  });

  const renewing: Worker = startWorker({
    name: 'renew claims',
    everyMs: RENEW_EVERY_MS,
    async step() {
      const running = underWay.olderThan(RENEW_AFTER_MS);
      if (running.length > 0) await renewClaims(ports, running);
      return 0;
    },
    logger,
  });

  const emptied = async (): Promise<void> => {
    const deadline = performance.now() + STOP_WITHIN_MS;
    while (underWay.size > 0 && performance.now() < deadline) await sleep(10);
  };

  return {
    kick,
    async stop() {
      await Promise.all([claimingPrompt.stop(), claimingDoubtful.stop()]);
      await emptied();
      // What still hangs is ended and given back, so that another replica sends it at once.
      await poster.close();
      await emptied();
      await Promise.all([recording.stop(), renewing.stop()]);
    },
  };
}
