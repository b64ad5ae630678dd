import {
  authenticated,
  contextOf,
  createApp,
  finishApp,
  type HttpParts,
  readBody,
  send,
} from '@quittance/shared/http';
import type { Express } from 'express';
import type { Ports } from '../ports.ts';
import { createPayout, listPayouts, showPayout } from './payouts.ts';
import { returnDeposit } from './returns.ts';

/** The service's HTTP interface, behind the gateway. `readiness` names what keeps it, or a part of it, from serving. */
export function createHttp(
  ports: Ports,
  readiness: Pick<HttpParts, 'waitsFor' | 'without' | 'metrics'>,
): Express {
  const { logger, clock, settings } = ports;
  const app = createApp({ logger, clock, ...readiness });
  const listening = { count: 0 };
  const signedIn = authenticated(settings.identitySecret, clock);
  app.get('/api/payouts', signedIn, async (req, res) => send(res, await listPayouts(ports, req, res)));
  app.get('/api/payouts/:id', signedIn, async (req, res) =>
    send(res, await showPayout(ports, contextOf(res).identity.account, String(req.params['id']))),
  );
  app.post('/api/payouts', signedIn, ...readBody, async (req, res) =>
    send(res, await createPayout(ports, req, res)),
  );
  app.post('/api/unresolved/:id/return', signedIn, ...readBody, async (req, res) =>
    send(res, await returnDeposit(ports, listening, req, res)),
  );
  finishApp(app, logger);
  return app;
}
