import { authenticated, createApp, finishApp, type HttpParts } from '@quittance/shared/http';
import type { Secret } from '@quittance/shared/secret';
import type { Express } from 'express';
import type { HttpPorts } from '../ports.ts';
import { deliveryRoutes } from './deliveries.ts';
import { endpointRoutes } from './endpoints.ts';
import { eventRoutes } from './events.ts';

export function createHttp(
  ports: HttpPorts & { identitySecret: Secret } & Pick<HttpParts, 'waitsFor' | 'metrics'>,
): Express {
  const app = createApp({ ...ports, lists: ['kinds'] });
  const known = authenticated(ports.identitySecret, ports.clock);
  endpointRoutes(app, known, ports);
  deliveryRoutes(app, known, ports);
  eventRoutes(app, known, ports);
  finishApp(app, ports.logger);
  return app;
}
