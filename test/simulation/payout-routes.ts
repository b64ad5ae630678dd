import { cancelPayout } from '@quittance/payouts/http/cancel-payout';
import { routeClaims } from '@quittance/payouts/http/claims';
import { addBatchRoutes } from '@quittance/payouts/http/payout-batches';
import { routeRefunds } from '@quittance/payouts/http/refunds';
import type { Ports } from '@quittance/payouts/ports';
import { send } from '@quittance/shared/http-answers';
import { type Route, routesOf } from './http-route.ts';

/** What one process of payouts answers over HTTP besides POST /api/payouts. */
export function payoutRoutes(ports: Ports): Map<string, Route> {
  const cancelling = { count: 0 };
  return routesOf((app) => {
    addBatchRoutes(app, ports, (_req, _res, next) => next());
    app.post('/api/payouts/:id/cancel', async (req, res) =>
      send(res, await cancelPayout(ports, cancelling, req, res)),
    );
    routeRefunds(app, ports);
    routeClaims(app, ports);
  });
}
