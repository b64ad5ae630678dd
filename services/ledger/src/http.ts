import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import { authenticated, contextOf, createApp, finishApp, send } from '@quittance/shared/http';
import type { Logger } from '@quittance/shared/logger';
import type { Express } from 'express';
import { activeAssets, balancesOf } from './store-quotes.ts';
import { assetView, balanceView, byAssetId } from './views.ts';

export type HttpOptions = {
  db: Db;
  clock: Clock;
  logger: Logger;
  identitySecret: string;
  waitsFor: () => Promise<string[]>;
};

export function createHttp({ db, clock, logger, identitySecret, waitsFor }: HttpOptions): Express {
  const app = createApp({ logger, clock, waitsFor });
  const merchant = authenticated(identitySecret, clock);

  app.get('/api/balances', merchant, async (_req, res) => {
    const rows = await balancesOf(db, contextOf(res).identity.account);
    send(res, { status: 200, body: { data: rows.sort(byAssetId).map(balanceView) } });
  });

  app.get('/api/assets', merchant, async (_req, res) => {
    const rows = await activeAssets(db);
    send(res, { status: 200, body: { data: rows.sort(byAssetId).map(assetView) } });
  });

  finishApp(app, logger);
  return app;
}
