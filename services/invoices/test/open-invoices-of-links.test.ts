import { describe, expect, it } from '@jest/globals';
import type { PaymentLinkId } from '@quittance/shared/ids';
import { payLink } from '../src/operations/pay-link.ts';
import { findLink } from '../src/store/payment-links.ts';
import { openFixture } from './fixture.ts';
import { invoiceOf, linksOf, type Shop } from './link-fixture.ts';

const { fixture } = await openFixture();
const { open, choose, page, aLink } = linksOf(fixture);

const FULL = {
  status: 503,
  headers: expect.objectContaining({ 'retry-after': '60' }),
  body: expect.stringContaining('Too many payments of this link are open at the moment.'),
};
const openOf = async (shop: Shop, id: string) =>
  (await shop.get(`/api/payment-links/${id}`)).body.open_invoices;
const totalOf = async (shop: Shop) => (await shop.get('/api/invoices')).body.meta.total;

describe('a payment link with a limit of open invoices', () => {
  it.each([[{ asset: 'ETH' }], [{ assets: 'all' }]])(
    'begins no payment while it has so many, and begins one when one has ended: %j',
    async (offer) => {
      const { shop, link } = await aLink({ amount: 25, max_open: 2, ...offer });
      expect(link).toMatchObject({ max_open: 2, open_invoices: 0 });
      const [first] = [invoiceOf(await open(link.id)), invoiceOf(await open(link.id))];
      expect(await openOf(shop, link.id)).toBe(2);
      expect(await open(link.id)).toMatchObject(FULL);
      expect(await totalOf(shop)).toBe(2);
      // The page stays open for those who come later.
      expect((await page(`/link/${link.id}`)).body).toContain('<form');
      // Another link of the shop has a count of its own.
      const other = await aLink({ amount: 25, asset: 'ETH', max_open: 1 }, shop);
      invoiceOf(await open(other.link.id));

      expect((await shop.post(`/api/invoices/${first}/cancel`, {})).status).toBe(200);
      expect(await openOf(shop, link.id)).toBe(1);
      invoiceOf(await open(link.id));
      expect(await open(link.id)).toMatchObject(FULL);
    },
  );

  it('counts an invoice once before and after the choice of its asset', async () => {
    const { shop, link } = await aLink({ amount: 25, max_open: 1 });
    const id = invoiceOf(await open(link.id));
    expect(await openOf(shop, link.id)).toBe(1);
    await choose(id);
    expect(await openOf(shop, link.id)).toBe(1);
    expect(await open(link.id)).toMatchObject(FULL);
  });

  it('counts exactly when many payers of two replicas begin at the same moment', async () => {
    const replica = await fixture.replica();
    for (const offer of [{ asset: 'ETH' }, { assets: 'all' }]) {
      const { shop, link } = await aLink({ amount: 25, max_open: 5, ...offer });
      const payers = Array.from({ length: 24 }, (_, i) =>
        open(link.id, '', i % 2 === 0 ? replica.port : undefined),
      );
      const statuses = (await Promise.all(payers)).map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(5).fill(303), ...Array(19).fill(503)]);
      expect([await openOf(shop, link.id), await totalOf(shop)]).toEqual([5, 5]);
    }
  });

  it('begins no payment when the shop deactivates it while an address is taken', async () => {
    const { shop, link } = await aLink({ amount: 25, asset: 'ETH' });
    const found = await findLink(fixture.ports.db, link.id as PaymentLinkId);
    if (found === undefined) throw new Error('the link is there');
    await shop.post(`/api/payment-links/${link.id}/deactivate`, {});
    const begun = await payLink(fixture.ports, found, { typed: '', requestId: 'req_1' });
    expect(begun).toEqual({ ok: false, refusal: 'ended' });
    expect(await totalOf(shop)).toBe(0);
  });

  it('is changed by its shop, and takes payments up to the new limit', async () => {
    const { shop, link } = await aLink({ amount: 25, asset: 'ETH', max_open: 1 });
    const change = (body: object, by = shop) => by.patch(`/api/payment-links/${link.id}`, body);
    invoiceOf(await open(link.id));
    expect(await open(link.id)).toMatchObject(FULL);
    expect(await change({ max_open: 2 })).toMatchObject({
      status: 200,
      body: {
        message: 'Payment link updated successfully.',
        data: { ...link, max_open: 2, open_invoices: 1 },
      },
    });
    invoiceOf(await open(link.id));
    expect(await open(link.id)).toMatchObject(FULL);
    // A lower limit ends nothing.
    expect((await change({ max_open: 1 })).body.data).toMatchObject({ max_open: 1, open_invoices: 2 });
    expect(await open(link.id)).toMatchObject(FULL);

    expect(await change({ max_open: 5 }, fixture.merchant())).toMatchObject({ status: 403 });
    for (const [body, field, message] of [
      [{}, 'max_open', 'The max open field is required.'],
      [{ max_open: 0 }, 'max_open', 'The max open must be at least 1.'],
      [{ max_open: 10_001 }, 'max_open', 'The max open must not be greater than 10000.'],
      [{ max_open: 5, amount: 7 }, 'amount', 'The amount field is not known.'],
    ] as const) {
      const { status, body: answered } = await change(body);
      expect([status, answered.errors]).toEqual([422, { [field]: [message] }]);
    }
    expect((await shop.get(`/api/payment-links/${link.id}`)).body.max_open).toBe(1);
  });
});
