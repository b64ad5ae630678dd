import { createApp, finishApp, type HttpParts } from '@quittance/shared/http';
import { merchantOnly } from '@quittance/shared/merchant-only';
import type { Express } from 'express';
import type { Ports } from '../ports.ts';
import { routeDeliveries } from './deliveries.ts';
import { routeEndpoints } from './endpoints.ts';
import { routeEvents } from './events.ts';
import { routeMailRecipients } from './mail-recipients.ts';
import { routePublicKeys } from './public-keys.ts';
import { routeUnsubscribe } from './unsubscribe.ts';

export function createHttp(ports: Ports, parts: HttpParts): Express {
  const app = createApp({ ...parts, lists: ['kinds'] });
  const merchant = merchantOnly('webhooks', ports.settings.gatewayKeys, ports.clock);
  routeEndpoints(app, merchant, ports);
  routeDeliveries(app, merchant, ports);
  routeEvents(app, merchant, ports);
  routeMailRecipients(app, merchant, ports);
  routePublicKeys(app, ports);
  routeUnsubscribe(app, ports);
  finishApp(app, ports.logger);
  return app;
}
