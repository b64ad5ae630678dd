import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import { createApp, finishApp, send } from '@quittance/shared/http';
import type { Logger } from '@quittance/shared/logger';
import type { Metrics } from '@quittance/shared/metrics';
import type { Express } from 'express';
import { haltsInForce, knownBreaches, lastCheck, openHalts } from './store.ts';
import { booksView } from './views.ts';

export type HttpOptions = {
  db: Db;
  clock: Clock;
  logger: Logger;
  waitsFor: () => Promise<string[]>;
  metrics: Metrics;
};

/** For operators, inside the network: the gateway passes nothing on to here. */
export function createHttp({ db, clock, logger, waitsFor, metrics }: HttpOptions): Express {
  const app = createApp({ logger, clock, waitsFor, metrics });

  app.get('/internal/books', async (_req, res) => {
    const [recent, whole] = [await lastCheck(db, 'recent'), await lastCheck(db, 'whole')];
    send(res, {
      status: 200,
      body: booksView(
        { recent, whole },
        await knownBreaches(db),
        await openHalts(db),
        await haltsInForce(db),
      ),
    });
  });

  finishApp(app, logger);
  return app;
}
