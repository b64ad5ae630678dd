import { expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { DUE, openFixture } from './fixture.ts';
import { invoiceOf, linksOf } from './link-fixture.ts';

const { fixture, pay, settle } = await openFixture();
const { open, aLink } = linksOf(fixture);

it('invoices are found by when they were paid, both ends included, whenever they were created', async () => {
  const shop = fixture.merchant();
  const first = await shop.invoice();
  // Lists are ordered by the millisecond of creation.
  fixture.pass(1);
  const second = await shop.invoice();
  await shop.invoice();
  await shop.post('/api/invoices', { assets: 'all', amount: 25 });
  await pay(second.address.address.toLowerCase(), DUE);
  await settle();
  fixture.pass(5);
  await pay(first.address.address.toLowerCase(), DUE);
  await settle();
  const [early, late] = [await shop.read(second.id), await shop.read(first.id)];
  expect(Date.parse(late.paid_at)).toBeGreaterThan(Date.parse(early.paid_at));

  const found = async (query: string): Promise<string[]> =>
    (await shop.get(`/api/invoices?${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect(await found(`paid_from=${late.paid_at}`)).toEqual([first.id]);
  expect(await found(`paid_to=${early.paid_at}`)).toEqual([second.id]);
  expect(await found(`paid_from=${early.paid_at}&paid_to=${late.paid_at}`)).toEqual([second.id, first.id]);
  expect(await found(`paid_from=${early.paid_at}&asset=BTC`)).toEqual([]);
  const file = await shop.get(`/api/invoices?format=csv&paid_from=${late.paid_at}`);
  expect(String(file.body).trimEnd().split('\r\n').slice(1)).toEqual([expect.stringContaining(first.id)]);
  expect(await shop.get(`/api/invoices?paid_from=${late.paid_at}&paid_to=${early.paid_at}`)).toMatchObject({
    status: 422,
    body: {
      errors: { paid_to: ['The paid to must be a date after or equal to paid from.'] },
      hint: `paid_from is ${late.paid_at}, which is later: exchange the two dates.`,
    },
  });
});

it('the file of invoices has the payment link of each, and what its refunds take', async () => {
  const { shop, link } = await aLink({ amount: 25, asset: 'ETH' });
  const id = invoiceOf(await open(link.id));
  await pay((await shop.read(id)).address.address.toLowerCase(), DUE);
  await settle();
  await fixture.tell('refund.updated', {
    ...{ refund_id: `ref_1_${id}`, invoice_id: id, account_id: shop.account, version: 1, asset: 'ETH' },
    ...{ status: 'completed', amount: (DUE / 4n).toString(), share: (DUE / 2n).toString(), payout_id: '7' },
    created_at: '2026-03-02T12:00:00.000Z',
  });
  await eventually(async () => expect((await shop.read(id)).refunded_amount).toBe('0.005'));
  const [head = '', line = ''] = String((await shop.get('/api/invoices?format=csv')).body).split('\r\n');
  const cell = (name: string) => line.split(',')[head.split(',').indexOf(name)];
  expect(['paid_amount', 'credited_amount', 'refunded_amount', 'payment_link_id'].map(cell)).toEqual([
    ...['0.01', '0.01', '0.005', link.id],
  ]);
});
