import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EventType, type Invoice, type Quittance, WebhookVerificationError } from '@quittance/client';
import express, { type Response } from 'express';

/** A shop that takes crypto payments. It keeps its orders in memory, and stands for yours, which has a database. */

const products = new Map([
  ['mug', { name: 'A mug', usd: 12 }],
  ['shirt', { name: 'A shirt', usd: 25 }],
]);

type Order = {
  id: string;
  product: string;
  invoiceId: string;
  /** `open`, then `paid`, `short`, `late` or `expired`. */
  state: string;
  /** Of the newest event of the invoice that was handled: older ones change nothing, unless they say `paid`. */
  version: number;
  shipped: number;
};

export type Shop = { url: string; orders: Map<string, Order>; close(): Promise<void> };
export type ShopOptions = {
  quittance: Quittance;
  /** What this server is to Quittance. `hookUrl(port, path)` of the test kit; `https://shop.example/hook` in production. */
  hookUrl: (port: number, path: string) => string;
  port?: number;
  expiresInMinutes?: number;
};

export async function openShop({
  quittance,
  hookUrl,
  port = 0,
  expiresInMinutes = 60,
}: ShopOptions): Promise<Shop> {
  const orders = new Map<string, Order>();
  const app = express();

  app.get('/', (_req, res) => {
    const items = [...products].map(
      ([id, { name, usd }]) =>
        `<li>${name}, ${usd} dollars <form method="post" action="/buy/${id}"><button>Buy</button></form></li>`,
    );
    res.send(page('A shop', `<ul>${items.join('')}</ul>`));
  });

  // The checkout: an order, an invoice for it, and the customer goes to the payment page.
  app.post('/buy/:product', async (req, res) => {
    const product = products.get(req.params.product);
    if (product === undefined) return notFound(res);
    const id = `order-${randomUUID()}`;
    const invoice = await quittance.invoices.create(
      {
        assets: 'all',
        amount: product.usd,
        description: product.name,
        external_id: id,
        expires_in: expiresInMinutes,
        succeed_url: `${req.protocol}://${req.get('host')}/orders/${id}`,
      },
      // An order has one invoice here. Where a customer can try again, add the number of the attempt.
      { idempotencyKey: id },
    );
    orders.set(id, {
      id,
      product: product.name,
      invoiceId: invoice.id,
      state: 'open',
      version: 0,
      shipped: 0,
    });
    res.redirect(303, invoice.url);
  });

  app.get('/orders/:id', (req, res) => {
    const order = orders.get(req.params.id);
    if (order === undefined) return notFound(res);
    res.send(page(`${order.product}: ${order.state}`, texts[order.state] ?? ''));
  });

  // Events of Quittance. The body is verified as it arrived, so nothing may parse it before.
  app.post('/hook', express.raw({ type: '*/*' }), async (req, res) => {
    // Nothing can be verified before the secret is known: 503 asks for the event once more.
    if (secret === undefined) return void res.sendStatus(503);
    try {
      const event = await quittance.webhooks.verify(req.body, req.headers, secret);
      if (event.event.startsWith('invoice.')) settle(event.event, event.version, event.data as Invoice);
      res.sendStatus(200);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      res.sendStatus(400);
    }
  });

  // An event may arrive twice, and after a newer one. Goods are shipped once, when the invoice is `paid` and not before.
  function settle(event: EventType, version: number, { external_id, status }: Invoice): void {
    const order = orders.get(external_id ?? '');
    const state = status === 'paid' ? 'paid' : states.get(event);
    if (order === undefined || state === undefined || order.state === 'paid') return;
    if (state !== 'paid' && version < order.version) return;
    Object.assign(order, { state, version });
    if (state === 'paid') order.shipped += 1;
  }

  const server = await listening(app, port);
  const { port: opened } = server.address() as AddressInfo;
  let secret: string | undefined;
  // A real shop registers once, and keeps the secret with its other secrets.
  const endpoint = await quittance.webhooks.create({
    url: hookUrl(opened, '/hook'),
    events: [...states.keys()],
  });
  secret = endpoint.secret;
  return {
    url: `http://127.0.0.1:${opened}`,
    orders,
    async close() {
      await quittance.webhooks.delete(endpoint.id);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What each event makes of an order. */
const states = new Map<EventType, string>([
  ['invoice.partially_paid', 'part'],
  ['invoice.confirmed', 'seen'],
  ['invoice.paid', 'paid'],
  ['invoice.underpaid', 'short'],
  ['invoice.late_payment', 'late'],
  ['invoice.expired', 'expired'],
]);

const texts: Record<string, string> = {
  open: 'We wait for your payment.',
  part: 'A part of your payment has arrived. Please send the rest.',
  seen: 'We see your payment, and wait until it is final.',
  paid: 'Thank you. Your order is on its way.',
  short: 'Your payment was too small, and the time is over. We will refund it.',
  late: 'Your payment came too late. We will refund it.',
  expired: 'The time to pay is over. Please order again.',
};

const page = (title: string, text: string) =>
  `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>`;
const notFound = (res: Response): void => void res.status(404).send(page('Not found', ''));

/** On all interfaces: where Quittance runs in containers, they reach this machine by one that is not 127.0.0.1. */
const listening = (app: express.Express, port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = app.listen(port, (error?: Error) =>
      error === undefined ? resolve(server) : reject(error),
    );
  });
