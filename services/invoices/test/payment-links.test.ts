import { describe, expect, it } from '@jest/globals';
import type { Quote } from '@quittance/shared/quotes';
import { aFiatRate } from '@quittance/testkit/builders';
import { eventually } from '@quittance/testkit/eventually';
import { DUE, MINUTE, openFixture } from './fixture.ts';
import { invoiceOf, linksOf } from './link-fixture.ts';

const { fixture, pay, settle } = await openFixture();

const { open, choose, page, aLink } = linksOf(fixture);

describe('a payment link', () => {
  it('is paid three times as three invoices, and loading its page creates none', async () => {
    const description = '<i onclick="x">Tea & cake</i>';
    const { shop, link } = await aLink({
      ...{ amount: 25, asset: 'ETH', description, metadata: { table: '7' }, expires_in: 15 },
      succeed_url: 'https://shop.example/thanks',
    });
    expect(link).toEqual({
      ...{ id: expect.stringMatching(/^plink_[0-9a-z]{36}$/), url: `https://pay.example/link/${link.id}` },
      ...{
        status: 'active',
        description,
        metadata: { table: '7' },
        currency: 'USD',
        asset: 'ETH',
        assets: null,
      },
      ...{ amount_fiat: '25.00', amount_min: null, amount_max: null, expires_in: 15, timeout_url: null },
      ...{ succeed_url: 'https://shop.example/thanks', valid_until: null, deactivated_at: null },
      ...{ max_open: 100, open_invoices: 0, created_at: fixture.clock.at.toISOString() },
    });
    const shown = await page(`/link/${link.id}`);
    expect(shown).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(shown.headers['content-security-policy']).toContain("form-action 'self'");
    expect(shown.body).toContain('&lt;i onclick=&quot;x&quot;&gt;Tea &amp; cake&lt;/i&gt;');
    expect(shown.body).toContain(`<form method="post" action="/link/${link.id}">`);
    expect(shown.body).toContain('25.00 US dollars');
    expect(shown.body).toContain('<dt>Payable in</dt><dd>ETH on Ethereum</dd>');
    expect(shown.body).not.toContain('valid until');
    expect(shown.body.replace(/<script>[\s\S]*?<\/script>/, '')).not.toMatch(
      /<script|\sstyle=|<i |acc_|table|name="amount"/,
    );
    expect((await shop.get('/api/invoices')).body.meta.total).toBe(0);

    // The amount of the link counts, whatever a form says.
    const ids = [];
    for (const body of ['', 'amount=5', '']) {
      fixture.pass(1);
      ids.unshift(invoiceOf(await open(link.id, body)));
    }
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) {
      const made = await shop.read(id);
      expect(made).toMatchObject({
        ...{ payment_link_id: link.id, amount_fiat: '25.00', description, metadata: { table: '7' } },
        asset: { symbol: 'ETH' },
      });
      expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(15 * MINUTE);
      await pay(made.address.address.toLowerCase(), DUE);
    }
    await settle();
    await shop.invoice();
    const { body } = await shop.get(`/api/invoices?payment_link_id=${link.id}&status=paid`);
    expect(body.data[0]).toMatchObject({ payment_link_id: link.id });
    expect(body.data[0]).not.toHaveProperty('currency');
    expect(body).toMatchObject({ data: ids.map((id) => ({ id, status: 'paid' })), meta: { total: 3 } });
    for (const id of ids) {
      for (const { kind, payload } of await fixture.told(id)) {
        if (kind.startsWith('invoice.')) expect(payload.data.payment_link_id).toBe(link.id);
      }
    }
  });

  it('lets the payer choose the asset unless it names one', async () => {
    const { shop, link } = await aLink({ amount: 25 });
    expect(link).toMatchObject({ asset: null, assets: 'all' });
    const id = invoiceOf(await open(link.id));
    const before = await shop.read(id);
    expect(before).toMatchObject({ asset: null, assets: ['ETH', 'USDC_ERC20'], payment_link_id: link.id });
    const listed = [{ id, payment_link_id: link.id }];
    expect((await shop.get(`/api/invoices?payment_link_id=${link.id}`)).body.data).toMatchObject(listed);
    await choose(id, 'asset=USDC_ERC20');
    expect(await shop.read(id)).toMatchObject({ asset: { symbol: 'USDC_ERC20' }, payment_link_id: link.id });
    expect((await shop.get(`/api/invoices?payment_link_id=${link.id}`)).body.data).toMatchObject([{ id }]);
    const some = await aLink({ amount: 25, assets: ['USDC_ERC20'] }, shop);
    expect(some.link.assets).toEqual(['USDC_ERC20']);
    expect((await shop.get('/api/invoices?payment_link_id=plink_x')).body.data).toEqual([]);
  });

  it('takes an open amount within its limits, and none beside them', async () => {
    const { shop, link } = await aLink({ amount_min: 10, amount_max: '99.5', asset: 'ETH' });
    const { body } = await page(`/link/${link.id}`);
    expect(body).toContain('Amount in US dollars, at least 10 and at most 99.5');
    expect(body).toContain('<input name="amount"');
    for (const [typed, message] of [
      ['9.99', 'The amount must be at least 10.'],
      ['99.51', 'The amount must not be greater than 99.5.'],
      ['1e3', 'The amount must not be greater than 99.5.'],
      ['-50', 'The amount must be at least 10.'],
      ['12.345', 'The amount must not have more than 2 decimal places.'],
      ['1,000', 'Please type the amount without a separator of thousands'],
      ['1,2,3', 'The amount must be a number.'],
      ['"><b>', 'The amount must be a number.'],
      ['', 'The amount field is required.'],
    ] as const) {
      const answer = await open(link.id, new URLSearchParams({ amount: typed }).toString());
      expect(answer).toMatchObject({ status: 422, body: expect.stringContaining(message) });
      expect(answer.body).not.toContain('<b>');
    }
    expect(await open(link.id, 'amount=50&asset=ETH')).toMatchObject({ status: 422 });
    expect((await shop.get('/api/invoices')).body.meta.total).toBe(0);
    for (const [typed, shown] of [
      ['10', '10.00'],
      ['99.50', '99.50'],
      ['12,50', '12.50'],
    ]) {
      expect((await shop.read(invoiceOf(await open(link.id, `amount=${typed}`)))).amount_fiat).toBe(shown);
    }
    // Without limits, those of every invoice hold.
    const free = await aLink({ asset: 'ETH' });
    expect((await open(free.link.id, 'amount=4.99')).body).toContain('The amount must be at least 5.');
  });

  it('offers the others of its assets when one is switched off', async () => {
    const { link, shop } = await aLink({ amount: 25, assets: ['ETH', 'USDC_ERC20'] });
    fixture.quotes.set('ETH', { ...(fixture.quotes.get('ETH') as Quote), active: false });
    expect((await shop.read(invoiceOf(await open(link.id)))).assets).toEqual(['USDC_ERC20']);
  });

  it('has the currency of its account unless it names one, and each payment the rate of its moment', async () => {
    const shop = fixture.merchant();
    await shop.patch('/api/invoice-settings', { currency: 'EUR', expires_in: null });
    const { link } = await aLink({ amount: 10, asset: 'ETH' }, shop);
    expect(link).toMatchObject({ currency: 'EUR', amount_fiat: '10.00', expires_in: null });
    expect((await page(`/link/${link.id}`)).body).toContain('<h1>10.00 euros</h1>');
    // 10 × 1.0845 / 2500; the settings are those of the moment that the payment begins.
    const first = await shop.read(invoiceOf(await open(link.id)));
    expect(first).toMatchObject({ currency: 'EUR', amount_fiat: '10.00', amount: '0.004338' });
    // Anybody may begin a payment: its rate is not locked for ever, as that of the shop's own invoices is.
    expect(Date.parse(first.expires_at) - Date.parse(first.created_at)).toBe(120 * MINUTE);
    await shop.patch('/api/invoice-settings', { currency: 'USD', expires_in: 5 });

    fixture.fiatRates.set('EUR', aFiatRate('EUR', '2', fixture.clock.at));
    const second = await shop.read(invoiceOf(await open(link.id)));
    expect(second).toMatchObject({ currency: 'EUR', amount: '0.008', payment_link_id: link.id });
    expect(Date.parse(second.expires_at) - Date.parse(second.created_at)).toBe(5 * MINUTE);
    // The price is below the least amount of now: that is no fault of the payer, and trying again does not help.
    fixture.fiatRates.set('EUR', aFiatRate('EUR', '0.4', fixture.clock.at));
    const low = await open(link.id);
    expect(low).toMatchObject({
      status: 422,
      body: expect.stringContaining(
        'The amount of this link cannot be paid. The amount must be at least 12.5. Please ask the shop for another link.',
      ),
    });
    expect(low.body).not.toContain('try again');
    const unavailable = { status: 503, body: expect.stringContaining('Payments cannot begin') };
    fixture.fiatRates.delete('EUR');
    expect(await open(link.id)).toMatchObject(unavailable);
    const order = { description: 'Tea', currency: 'EUR' };
    expect((await shop.post('/api/payment-links', { ...order, amount: 10 })).status).toBe(503);
    expect((await shop.post('/api/payment-links', order)).status).toBe(201);
    const yen = await aLink({ amount_min: 1000, currency: 'JPY', asset: 'ETH' }, shop);
    expect((await page(`/link/${yen.link.id}`)).body).toContain('Amount in Japanese yen, at least 1000');
    expect((await open(yen.link.id, 'amount=1500.5')).body).toContain(
      'The amount must not have more than 0 decimal places.',
    );
    const wrong = await shop.post('/api/payment-links', { description: 'Tea', currency: 'DOGE', amount: 10 });
    expect([wrong.status, wrong.body.errors]).toEqual([
      422,
      { currency: ['The selected currency is invalid.'] },
    ]);
  });

  it('ends at its time, or when the shop deactivates it; what was begun before goes on', async () => {
    const { shop, link } = await aLink({ amount: 25, asset: 'ETH', valid_days: 1 });
    const id = invoiceOf(await open(link.id));
    const one = await aLink({
      amount: 25,
      valid_until: new Date(fixture.clock.at.getTime() + MINUTE).toISOString(),
    });
    const { body } = await page(`/link/${one.link.id}`);
    expect(body).toContain(`<time datetime="${one.link.valid_until}">Mar 1, 2026, 12:01 UTC</time>`);
    expect(body).toContain('<dt>Payable in</dt><dd>ETH on Ethereum, USDC on Ethereum</dd>');
    fixture.pass(MINUTE);
    const ended = { status: 410, body: expect.stringContaining('Its time is over.') };
    expect(await page(`/link/${one.link.id}`)).toMatchObject(ended);
    expect(await open(one.link.id)).toMatchObject(ended);
    expect((await one.shop.get(`/api/payment-links/${one.link.id}`)).body.status).toBe('expired');

    const first = await shop.post(`/api/payment-links/${link.id}/deactivate`, {});
    expect(first).toMatchObject({ status: 200, body: { data: { id: link.id, status: 'deactivated' } } });
    fixture.pass(1);
    expect((await shop.post(`/api/payment-links/${link.id}/deactivate`, {})).body).toStrictEqual(first.body);
    for (const answer of [await page(`/link/${link.id}`), await open(link.id)]) {
      expect(answer).toMatchObject({ status: 410, body: expect.not.stringContaining('<form') });
    }
    expect((await shop.get('/api/invoices')).body.data).toMatchObject([{ id, status: 'pending' }]);
    expect(await page(`/link/plink_${'0'.repeat(36)}`)).toMatchObject({ status: 404 });
    expect(await open(`plink_${'0'.repeat(36)}`)).toMatchObject({ status: 404 });
  });

  it('says so when no rate is fresh, and creates nothing', async () => {
    const { shop, link } = await aLink({ amount: 25, asset: 'ETH' });
    fixture.board.stale = true;
    expect(await open(link.id)).toMatchObject({
      status: 503,
      body: expect.stringContaining('Payments cannot begin at the moment.'),
    });
    expect((await shop.get('/api/invoices')).body.meta.total).toBe(0);
  });

  it('is listed newest first, and belongs to its account', async () => {
    const { shop, link } = await aLink();
    fixture.pass(1);
    const newer = (await aLink({}, shop)).link;
    expect((await shop.get('/api/payment-links')).body).toMatchObject({
      data: [newer, link],
      meta: { total: 2 },
    });
    expect((await shop.get('/api/payment-links?perPage=1&page=2')).body.data).toStrictEqual([link]);
    expect((await shop.get(`/api/payment-links/${link.id}`)).body).toStrictEqual(link);
    const other = fixture.merchant();
    expect((await other.get('/api/payment-links')).body.data).toEqual([]);
    expect(await other.get(`/api/payment-links/${link.id}`)).toMatchObject({ status: 403 });
    expect(await other.post(`/api/payment-links/${link.id}/deactivate`, {})).toMatchObject({ status: 403 });
    expect(await other.get('/api/payment-links/plink_x')).toMatchObject({
      status: 404,
      body: { message: 'No query results for model [PaymentLink].' },
    });
    expect(await shop.get(`/api/payment-links/${link.id}?a=1`)).toMatchObject({ status: 422 });
  });

  it('is created once for one Idempotency-Key, which is another request than that of an invoice', async () => {
    const shop = fixture.merchant();
    const key = { 'Idempotency-Key': 'k' };
    const order = { amount: 25, asset: 'ETH', description: 'Tea' };
    const answers = await Promise.all([1, 2, 3].map(() => shop.post('/api/payment-links', order, key)));
    for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
    expect((await shop.get('/api/payment-links')).body.meta.total).toBe(1);
    expect(await shop.post('/api/invoices', order, key)).toMatchObject({ status: 422 });
    expect((await shop.get('/api/invoices')).body.meta.total).toBe(0);
  });

  it('is named in the file of invoices, beside what the refunds of each take', async () => {
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

  it.each([
    [{ description: undefined }, 'description', 'The description field is required.'],
    [{ amount: 4.99 }, 'amount', 'The amount must be at least 5.'],
    [
      { amount: 25, amount_min: 5 },
      'amount_min',
      'The amount min field cannot be given together with amount.',
    ],
    [
      { amount_min: 9, amount_max: 8 },
      'amount_max',
      'The amount max must be greater than or equal to amount min.',
    ],
    [{ asset: 'ETH', assets: 'all' }, 'assets', 'The assets field cannot be given together with asset.'],
    [{ asset: 'BTC' }, 'asset', 'The selected asset is invalid.'],
    [{ valid_days: 366 }, 'valid_days', 'The valid days must not be greater than 365.'],
    [{ valid_until: '2026-02-28' }, 'valid_until', 'The valid until must be a date after now.'],
    [
      { valid_until: '2027-02-28', valid_days: 1 },
      'valid_days',
      'The valid days field cannot be given together with valid_until.',
    ],
    [{ max_open: 0 }, 'max_open', 'The max open must be at least 1.'],
    [{ max_open: 10_001 }, 'max_open', 'The max open must not be greater than 10000.'],
    [{ external_id: 'x' }, 'external_id', 'The external id field is not known.'],
  ])('422: %j', async (order, field, message) => {
    const { status, body } = await fixture
      .merchant()
      .post('/api/payment-links', { description: 'Tea', ...order });
    expect([status, body.errors]).toEqual([422, { [field]: [message] }]);
  });
});
