import { isDatabaseDown } from '@quittance/shared/db';
import { type HtmlPage, sendPage } from '@quittance/shared/html';
import { reason } from '@quittance/shared/logger';
import type { Express } from 'express';
import { paymentPage, unavailablePage, unknownPage } from '../payment-page.ts';
import type { Ports } from '../ports.ts';
import { isInvoiceId } from './invoices.ts';

/** The hosted payment page, for whoever has its address. */
export function routePaymentPage(app: Express, ports: Ports): void {
  app.get('/pay/:id', async (req, res) => sendPage(res, await pay(ports, String(req.params['id']))));
}

/** A customer always gets a page. A page that can still change reloads itself. */
async function pay(ports: Ports, id: string): Promise<HtmlPage> {
  try {
    const payment = isInvoiceId(id) ? await ports.findInvoice(id) : undefined;
    return payment === undefined ? unknownPage : paymentPage(payment, ports, ports.clock.now());
  } catch (error) {
    if (!isDatabaseDown(error)) throw error;
    ports.logger.warn(
      { reason: reason(error) },
      'a payment page cannot be shown: the database is unavailable',
    );
    return unavailablePage;
  }
}
