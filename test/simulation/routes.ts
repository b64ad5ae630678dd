import { routePages } from '@quittance/invoices/http/pages';
import { routePaymentLinks } from '@quittance/invoices/http/payment-links';
import type { Ports as InvoicesPorts } from '@quittance/invoices/ports';
import { addUnresolved } from '@quittance/ledger/http/unresolved';
import { addAutomaticRoutes } from '@quittance/payouts/http/automatic-payouts';
import { cancelPayout } from '@quittance/payouts/http/cancel-payout';
import { routeClaims } from '@quittance/payouts/http/claims';
import { addBatchRoutes } from '@quittance/payouts/http/payout-batches';
import { routeRefunds } from '@quittance/payouts/http/refunds';
import { routeReturns } from '@quittance/payouts/http/returns';
import type { Ports } from '@quittance/payouts/ports';
import { csvExports } from '@quittance/shared/csv-export';
import { send } from '@quittance/shared/http-answers';
import type { RequestHandler } from 'express';
import { type Route, routesOf } from './http-route.ts';
import type { Wiring } from './mutant.ts';

type LedgerPorts = Parameters<typeof addUnresolved>[3] & Parameters<typeof csvExports>[0];

/** Whose request it is, is known here. */
const anyone: RequestHandler = (_req, _res, next) => next();

/** What one process of payouts answers over HTTP besides POST /api/payouts. */
export function payoutRoutes(ports: Ports, wiring: Wiring): Map<string, Route> {
  const cancelling = { count: 0 };
  return wired(wiring, (app) => {
    addBatchRoutes(app, ports, anyone);
    addAutomaticRoutes(app, ports, anyone);
    app.post('/api/payouts/:id/cancel', async (req, res) =>
      send(res, await cancelPayout(ports, cancelling, req, res)),
    );
    routeRefunds(app, ports);
    routeReturns(app, ports);
    routeClaims(app, ports);
  });
}

/** What one process of invoices answers over HTTP to merchants about links, and to payers. */
export const invoicesRoutes = (ports: InvoicesPorts, wiring: Wiring): Map<string, Route> =>
  wired(wiring, (app) => {
    routePaymentLinks(app, ports);
    routePages(app, ports);
  });

/** What one process of the ledger answers over HTTP about unresolved funds. */
export const ledgerRoutes = (ports: LedgerPorts, wiring: Wiring): Map<string, Route> =>
  wired(wiring, (app) => addUnresolved(app, anyone, csvExports(ports), ports));

const wired = ({ routes }: Wiring, add: Parameters<typeof routesOf>[0]): Map<string, Route> =>
  new Map([...routesOf(add)].map(([path, real]) => [path, routes.get(path)?.(real) ?? real]));
