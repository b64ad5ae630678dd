import { expect } from '@jest/globals';
import type { InvoiceId } from '@quittance/shared/ids';
import { type ApiAnswer, api } from '@quittance/testkit/api';
import type { Fixture } from './fixture.ts';
import type { Any } from './replica.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export type Shop = ReturnType<Fixture['merchant']>;

/** What payers and shops do with payment links. */
export function linksOf(fixture: Fixture) {
  return {
    /** Sends the form of a link. */
    open: (id: string, body = '', port = fixture.service.port) =>
      api(port, 'POST', `/link/${id}`, { body, headers: FORM, now: fixture.clock.now() }),
    choose: (id: string, body = 'asset=ETH', port = fixture.service.port) =>
      api(port, 'POST', `/pay/${id}/choose`, { body, headers: FORM, now: fixture.clock.now() }),
    page: (path: string) => api(fixture.service.port, 'GET', path, { now: fixture.clock.now() }),
    async aLink(order: object = {}, shop: Shop = fixture.merchant()): Promise<{ shop: Shop; link: Any }> {
      const { status, body } = await shop.post('/api/payment-links', { description: 'Tea', ...order });
      if (status !== 201) throw new Error(`POST /api/payment-links answers ${JSON.stringify(body)}`);
      return { shop, link: body.data };
    },
    /** An invoice before the choice of its asset, of a new merchant. */
    async unchosen(order: object = {}) {
      const shop = fixture.merchant();
      const { status, body } = await shop.post('/api/invoices', { amount: 25, assets: 'all', ...order });
      expect(status).toBe(201);
      const made: Any = body.data;
      const kinds = async () => (await fixture.told(made.id)).map(({ kind }) => kind);
      return { shop, made, id: made.id as InvoiceId, kinds, read: () => shop.read(made.id) };
    },
  };
}

/** The id of the invoice that an answer leads to. */
export function invoiceOf({ status, headers }: ApiAnswer): string {
  expect(status).toBe(303);
  return /^\/pay\/(inv_[0-9a-z]{36})$/.exec(String(headers['location']))?.[1] ?? '';
}
