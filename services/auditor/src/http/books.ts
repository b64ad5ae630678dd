import { createApp, finishApp } from '@quittance/shared/http';
import { send } from '@quittance/shared/http-answers';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import type { Express } from 'express';
import type { Ports } from '../ports.ts';
import { lastCheck } from '../store/checks.ts';
import { knownDiscrepancies } from '../store/discrepancies.ts';
import { haltsInForce, openHalts } from '../store/halts.ts';
import { booksView } from '../views.ts';

/** For operators, inside the network: the gateway forwards no request to it. */
export function createHttp({ db }: Pick<Ports, 'db'>, parts: ServiceHttpParts): Express {
  const app = createApp(parts);

  app.get('/internal/books', async (_req, res) => {
    const [recent, whole] = [await lastCheck(db, 'recent'), await lastCheck(db, 'whole')];
    send(res, {
      status: 200,
      body: booksView(
        { recent, whole },
        await knownDiscrepancies(db),
        await openHalts(db),
        await haltsInForce(db),
      ),
    });
  });

  finishApp(app, parts.logger);
  return app;
}
