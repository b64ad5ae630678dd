import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Quote } from '@quittance/shared/quotes';
import { aFiatRate } from '@quittance/testkit/builders';
import { openFixture } from './fixture.ts';
import { invoiceOf, linksOf } from './link-fixture.ts';

const { fixture } = await openFixture();
const { open, choose, page, aLink } = linksOf(fixture);

const before = new Map(fixture.quotes);
const setDust = (asset: string, dust: string) =>
  fixture.quotes.set(asset, { ...(before.get(asset) as Quote), dust });
/** A payment counts from 0.01 ETH, 25 dollars, and from 20 USDC on. */
const raise = () => {
  setDust('ETH', '10000000000000000');
  setDust('USDC_ERC20', '20000000');
};
const reset = () => {
  for (const [asset, quote] of before) fixture.quotes.set(asset, quote);
};
beforeEach(raise);

describe('a price below the smallest payment that is credited', () => {
  it.each([
    [{ asset: 'ETH', amount: 24.99 }, '25'],
    [{ assets: ['ETH'], amount: 24.99 }, '25'],
    [{ assets: 'all', amount: 19.99 }, '20'],
    // 20 / 1.0845 = 18.4416…
    [{ assets: 'all', amount: 18.44, currency: 'EUR' }, '18.45'],
  ])('is refused when an invoice is created: %j', async (order, least) => {
    const shop = fixture.merchant();
    const { status, body } = await shop.post('/api/invoices', order);
    expect([status, body.errors]).toEqual([422, { amount: [`The amount must be at least ${least}.`] }]);
    expect(body.hint).toContain('or offer another asset.');
    expect((await shop.post('/api/invoices', { ...order, amount: least })).status).toBe(201);
  });

  it.each([
    [{ asset: 'ETH', amount: 24.99 }, 'amount', '25'],
    [{ amount: 19.99 }, 'amount', '20'],
    [{ assets: ['ETH'], amount_min: 5, amount_max: 24 }, 'amount_max', '25'],
  ])('is refused when a link is created: %j', async (order, field, least) => {
    const shop = fixture.merchant();
    const { status, body } = await shop.post('/api/payment-links', { description: 'Tea', ...order });
    const message = `The ${field.replace('_', ' ')} must be at least ${least}.`;
    expect([status, body.errors]).toEqual([422, { [field]: [message] }]);
    await aLink({ ...order, [field]: least }, shop);
    // Whoever pays an open amount may type more.
    await aLink({ assets: ['ETH'], amount_min: 5 }, shop);
  });

  it('is not refused while one of its assets has no fresh rate: it may be paid in that one', async () => {
    fixture.quotes.delete('ETH');
    const shop = fixture.merchant();
    expect((await shop.post('/api/invoices', { assets: 'all', amount: 10 })).status).toBe(201);
    await aLink({ amount: 10 }, shop);
  });

  it('is said to whoever pays a link, and nothing is created', async () => {
    reset();
    const { shop, link } = await aLink({ amount: 10 });
    const free = await aLink({ asset: 'ETH' }, shop);
    raise();
    const fixed = await open(link.id);
    expect(fixed.status).toBe(422);
    expect(fixed.body).toContain(
      'The amount of this link cannot be paid. The amount must be at least 20. Please ask the shop for another link.',
    );
    expect(fixed.body).not.toContain('try again');
    const typed = await open(free.link.id, 'amount=24.99');
    expect(typed).toMatchObject({
      status: 422,
      body: expect.stringContaining('The amount must be at least 25.'),
    });
    expect(typed.body).not.toContain('cannot be paid');
    expect((await shop.get('/api/invoices')).body.meta.total).toBe(0);
    invoiceOf(await open(free.link.id, 'amount=25'));
  });

  it('is not chosen in an asset that it is too small for, and the page offers the others', async () => {
    const shop = fixture.merchant();
    const { id } = (await shop.post('/api/invoices', { assets: 'all', amount: 22 })).body.data;
    const shown = await page(`/pay/${id}`);
    expect(shown.body).toContain('value="USDC_ERC20"');
    expect(shown.body).not.toContain('value="ETH"');
    expect(await choose(id, 'asset=ETH')).toMatchObject({
      status: 422,
      body: expect.stringContaining('This price is too small to be paid in this currency.'),
    });
    expect(await shop.read(id)).toMatchObject({ asset: null, status: 'pending' });
    // The rates change: now it is too small for all of them.
    setDust('USDC_ERC20', '23000000');
    const none = await page(`/pay/${id}`);
    expect(none.body).toContain('This price is too small to be paid in any of the currencies');
    expect(none.body).not.toContain('try again');
    setDust('USDC_ERC20', '22000000');
    expect((await choose(id, 'asset=USDC_ERC20')).status).toBe(303);
    expect(await shop.read(id)).toMatchObject({ asset: { symbol: 'USDC_ERC20' }, amount: '22' });
  });

  it('follows the rate of its currency', async () => {
    const { link } = await aLink({ amount: 25, currency: 'EUR', asset: 'ETH' });
    fixture.fiatRates.set('EUR', aFiatRate('EUR', '0.8', fixture.clock.at));
    expect((await open(link.id)).body).toContain('The amount must be at least 31.25.');
  });
});
