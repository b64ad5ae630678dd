import type { Bus } from '@quittance/shared/bus';
import { type Clock, remembered } from '@quittance/shared/clock';
import type { ThrottledLog } from '@quittance/shared/logger';
import type { Ports } from '../ports.ts';

/** For so long an answer of the auditor is used again. */
const REMEMBERED_MS = 2_000;

/** Asks the auditor what its last checks have shown, at most once in two seconds. */
export function reconciliationOf({
  bus,
  clock,
  throttledLog,
}: {
  bus: Pick<Bus, 'ask'>;
  clock: Clock;
  throttledLog: ThrottledLog;
}): Ports['reconciliation'] {
  const latest = remembered(
    async () => {
      const asked = await bus.ask('reconciliation.read', {});
      if (!asked.known) throw new Error(asked.reason);
      return asked.reply.assets;
    },
    REMEMBERED_MS,
    () => clock.now().getTime(),
  );
  return async () => {
    try {
      const assets = await latest();
      throttledLog.ended('auditor', {}, 'the auditor answers again');
      return assets;
    } catch (error) {
      throttledLog.log(
        'warn',
        'auditor',
        { reason: String(error) },
        'the auditor did not tell what its checks have shown',
      );
      return undefined;
    }
  };
}
