import { type Lease, releaseLease, takeLease } from '@quittance/shared/lease';
import type { Stoppable } from '@quittance/shared/start-service';
import { throttledLog } from '@quittance/shared/throttled-log';
import { startWorker } from '@quittance/shared/worker';
import { agreeOnAssets } from './operations/agree-on-assets.ts';
import { catchUpReversals } from './operations/catch-up-reversals.ts';
import { refreshQuotes } from './operations/refresh-quotes.ts';
import type { Ports } from './ports.ts';

const REVERSALS_EVERY_MS = 5_000;
/** Well within the time after which a silent replica is taken to be gone. */
const AGREE_EVERY_MS = 5_000;
/** A publisher that died is replaced well before its quotes are too old to use. */
const QUOTES_LEASE_SPARE_MS = 5_000;

const SUPERSEDED =
  'this replica is configured otherwise than a newer one, whose settings are in force: give all the same';

export function startWorkers(ports: Ports): Stoppable {
  const { db, logger, settings, agreement } = ports;
  const { replica, quotesEveryMs } = settings;
  let lease: Lease | undefined;
  const throttled = throttledLog(logger);
  const logAgreement = () => {
    const { differences } = agreement;
    if (differences.length > 0) throttled.log('warn', 'superseded', { differences }, SUPERSEDED);
    else throttled.ended('superseded', {}, 'the settings of this replica are in force');
  };
  logAgreement();

  const workers = [
    startWorker({
      name: 'reversals',
      everyMs: REVERSALS_EVERY_MS,
      step: () => catchUpReversals(ports),
      logger,
    }),
    startWorker({
      name: 'assets',
      everyMs: AGREE_EVERY_MS,
      async step() {
        agreement.differences = (await agreeOnAssets(ports, replica, settings.assets, false)).differences;
        logAgreement();
        return 0;
      },
      logger,
    }),
    startWorker({
      name: 'quotes',
      everyMs: quotesEveryMs,
      // One replica asks the sources for all; answers 0, so that a success is followed by the pause.
      async step() {
        // The sources know the assets that this replica is configured with.
        if (agreement.differences.length > 0) {
          if (lease !== undefined) await releaseLease(db, lease);
          lease = undefined;
          return 0;
        }
        lease = await takeLease(db, 'quotes', replica, 2 * quotesEveryMs + QUOTES_LEASE_SPARE_MS);
        if (lease !== undefined) await refreshQuotes(ports, lease);
        return 0;
      },
      logger,
    }),
  ];

  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      if (lease !== undefined) await releaseLease(db, lease);
    },
  };
}
