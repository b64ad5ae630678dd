import {
  contextOf,
  createApp,
  finishApp,
  type HttpParts,
  merchantOnly,
  readBody,
} from '@quittance/shared/http';
import { send } from '@quittance/shared/http-answers';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import type { Express } from 'express';
import type { Ports } from '../ports.ts';
import { createPayout, listPayouts, showPayout } from './payouts.ts';
import { returnDeposit } from './returns.ts';

/** The service's HTTP interface, behind the gateway. */
export function createHttp(ports: Ports, parts: ServiceHttpParts & Pick<HttpParts, 'without'>): Express {
  const app = createApp(parts);
  const waiting = { count: 0 };
  const merchant = merchantOnly(ports.settings.identitySecret, parts.clock);
  app.get('/api/payouts', merchant, async (req, res) => send(res, await listPayouts(ports, req, res)));
  app.get('/api/payouts/:id', merchant, async (req, res) =>
    send(res, await showPayout(ports, contextOf(res).identity.account, String(req.params['id']))),
  );
  app.post('/api/payouts', merchant, ...readBody, async (req, res) =>
    send(res, await createPayout(ports, req, res)),
  );
  app.post('/api/unresolved/:id/return', merchant, ...readBody, async (req, res) =>
    send(res, await returnDeposit(ports, waiting, req, res)),
  );
  finishApp(app, parts.logger);
  return app;
}
