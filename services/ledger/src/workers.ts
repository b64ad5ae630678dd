import { type Lease, releaseLease, takeLease } from '@quittance/shared/lease';
import { throttledLog } from '@quittance/shared/logger';
import type { Stoppable } from '@quittance/shared/start-service';
import { startWorker } from '@quittance/shared/worker';
import { applyAssetSettings } from './operations/apply-asset-settings.ts';
import { catchUpReversals } from './operations/deposits.ts';
import { refreshQuotes } from './operations/refresh-quotes.ts';
import type { Ports } from './ports.ts';

const REVERSALS_EVERY_MS = 5_000;
/** Several times within the time after which a silent replica counts as stopped. */
const SETTINGS_EVERY_MS = 5_000;
/** A dead publisher is replaced before its quotes are too old to use. */
const QUOTES_LEASE_MARGIN_MS = 5_000;

const SUPERSEDED =
  'this replica is configured otherwise than a newer one, whose settings are in force: give all replicas the same settings';

export function startWorkers(ports: Ports): Stoppable {
  const { db, logger, settings, settingsState } = ports;
  const { replica, quotesEveryMs } = settings;
  let lease: Lease | undefined;
  const throttled = throttledLog(logger);
  const logSettingsState = () => {
    const { differences } = settingsState;
    if (differences.length > 0) throttled.log('warn', 'superseded', { differences }, SUPERSEDED);
    else throttled.ended('superseded', {}, 'the settings of this replica are in force');
  };
  logSettingsState();

  const start = (name: string, everyMs: number, step: () => Promise<number>) =>
    startWorker({ name, everyMs, step, logger });
  const workers = [
    start('reversals', REVERSALS_EVERY_MS, () => catchUpReversals(ports)),
    start('assets', SETTINGS_EVERY_MS, async () => {
      settingsState.differences = await applyAssetSettings(ports, replica, settings.assets, false);
      logSettingsState();
      return 0;
    }),
    // One replica asks the sources for all. It returns 0, so that the pause follows a success.
    start('quotes', quotesEveryMs, async () => {
      // The price sources were made for the assets that this replica is configured with.
      if (settingsState.differences.length > 0) {
        if (lease !== undefined) await releaseLease(db, lease);
        lease = undefined;
        return 0;
      }
      lease = await takeLease(db, 'quotes', replica, 2 * quotesEveryMs + QUOTES_LEASE_MARGIN_MS);
      if (lease !== undefined) await refreshQuotes(ports, lease);
      return 0;
    }),
  ];

  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      if (lease !== undefined) await releaseLease(db, lease);
    },
  };
}
