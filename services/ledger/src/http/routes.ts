import { csvExports } from '@quittance/shared/csv-export';
import { contextOf, createApp, finishApp, takesNoParameters } from '@quittance/shared/http';
import { send } from '@quittance/shared/http-answers';
import { merchantOnly } from '@quittance/shared/merchant-only';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import type { Express } from 'express';
import type { Ports } from '../ports.ts';
import { activeAssets, balancesOf } from '../store/quotes.ts';
import { assetView, balanceView, byAssetId } from '../views.ts';
import { addBooks } from './books.ts';
import { addUnresolved } from './unresolved.ts';

export type HttpPorts = Pick<Ports, 'db' | 'settings'>;

export function createHttp(ports: HttpPorts, parts: ServiceHttpParts): Express {
  const { db, settings } = ports;
  const app = createApp(parts);
  const merchant = merchantOnly('ledger', settings.gatewayKeys, parts.clock);

  app.get('/api/balances', merchant, takesNoParameters, async (_req, res) => {
    const rows = await balancesOf(db, contextOf(res).identity.account);
    send(res, { status: 200, body: { data: rows.sort(byAssetId).map(balanceView) } });
  });

  app.get('/api/assets', merchant, takesNoParameters, async (_req, res) => {
    const rows = await activeAssets(db);
    send(res, { status: 200, body: { data: rows.sort(byAssetId).map(assetView) } });
  });

  const exports = csvExports({ db, logger: parts.logger });
  addUnresolved(app, merchant, exports, ports);
  addBooks(app, merchant, exports, { db, clock: parts.clock });

  finishApp(app, parts.logger);
  return app;
}
