import { authenticated, createApp, finishApp, type HttpParts } from '@quittance/shared/http';
import type { Secret } from '@quittance/shared/secret';
import type { Express } from 'express';
import { deliveryRoutes } from './http-deliveries.ts';
import { endpointRoutes } from './http-endpoints.ts';
import { eventRoutes } from './http-events.ts';
import type { HttpPorts } from './ports.ts';

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
