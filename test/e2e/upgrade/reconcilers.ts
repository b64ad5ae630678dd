import { connectBus } from '@quittance/shared/bus';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { reconcileStep } from '@quittance/shared/reconcile';
import type { Stack } from '@quittance/stack/stack';

/** So old are the events whose receivers are asked; services wait for twenty seconds, and look every ten. */
const GRACE_SECONDS = 1;
const logger = createLogger('test', 'error');

/** The reconcilers of the services that send events, in steps that a test calls. */
export async function openReconcilers(
  stack: Stack,
): Promise<{ step(): Promise<void>; close(): Promise<void> }> {
  const opened = await Promise.all(
    (['invoices', 'payouts', 'ledger'] as const).map(async (service) => {
      const { DATABASE_URL: url = '', NATS_URL: natsUrl = '' } = stack.settingsOf(service);
      const bus = await connectBus({ url: natsUrl, service, logger });
      return { bus, db: openDb({ url, schema: service, pool: 1, logger }) };
    }),
  );
  return {
    async step() {
      for (const { db, bus } of opened) await reconcileStep(db, bus, logger, GRACE_SECONDS);
    },
    async close() {
      await Promise.all(opened.flatMap(({ db, bus }) => [db.close(), bus.close()]));
    },
  };
}
