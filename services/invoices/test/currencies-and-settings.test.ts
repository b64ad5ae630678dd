import { describe, expect, it } from '@jest/globals';
import type { FiatRate } from '@quittance/shared/quotes';
import { api } from '@quittance/testkit/api';
import { aFiatRate } from '@quittance/testkit/builders';
import { expireUnchosen } from '../src/operations/expire-unchosen.ts';
import { MINUTE, openFixture } from './fixture.ts';
import { linksOf } from './link-fixture.ts';

const { fixture, pay, settle } = await openFixture();

const SETTINGS = '/api/invoice-settings';
const { choose, page: pageAt } = linksOf(fixture);
const page = async (id: string): Promise<string> => (await pageAt(`/pay/${id}`)).body;

describe('an invoice in another currency', () => {
  it('is due at the rates of the currency and the asset, which it records with their sources', async () => {
    const shop = fixture.merchant();
    const { as_of: at } = aFiatRate('EUR', '1.0845', fixture.clock.at);
    const made = await shop.invoice({ amount: 10, currency: 'EUR' });
    // 10 × 1.0845 / 2500
    const expected = { amount_fiat: '10.00', currency: 'EUR', usd_rate: '2500', amount: '0.004338' };
    const rate = {
      currency: {
        code: 'EUR',
        usd_rate: '1.0845',
        as_of: at,
        sources: [{ name: 'file', usd_rate: '1.0845', read_at: at }],
      },
      asset: {
        symbol: 'ETH',
        usd_rate: '2500',
        as_of: at,
        sources: [{ name: 'file', usd_rate: '2500', read_at: at }],
      },
    };
    expect(made).toMatchObject({ ...expected, rate });
    fixture.fiatRates.set('EUR', aFiatRate('EUR', '2', fixture.clock.at));
    expect(await shop.read(made.id)).toStrictEqual(made);
    expect((await fixture.told(made.id))[0]?.payload.data).toStrictEqual(made);
    const listed = [{ id: made.id, amount_fiat: '10.00', currency: 'EUR' }];
    expect((await shop.get('/api/invoices?amount_fiat=10')).body.data).toMatchObject(listed);
    expect(await page(made.id)).toContain('10.00 euros, 0.004338 ETH');

    await pay(made.address.address.toLowerCase(), 4_338n * 10n ** 12n);
    await settle();
    expect(await shop.read(made.id)).toMatchObject({ status: 'paid', paid_amount: '0.004338', rate });
  });

  it('has the decimals of its currency, and the limits of the dollar at its rate', async () => {
    const shop = fixture.merchant();
    const refused = async (amount: number, currency: string, message: string, hint: string) =>
      expect(await shop.post('/api/invoices', { asset: 'ETH', amount, currency })).toMatchObject({
        status: 422,
        body: { errors: { amount: [message] }, hint: expect.stringContaining(hint) },
      });
    await refused(1000.5, 'JPY', 'The amount must not have more than 0 decimal places.', 'round it');
    await refused(749, 'JPY', 'The amount must be at least 750.', 'The amount is in JPY: give 750 or more.');
    await refused(
      4.61,
      'EUR',
      'The amount must be at least 4.62.',
      'The amount is in EUR: give 4.62 or more.',
    );
    const yen = await shop.invoice({ asset: 'USDC_ERC20', amount: '1000', currency: 'JPY' });
    expect(yen).toMatchObject({ amount_fiat: '1000.00', amount: '6.666667' });
    expect(await page(yen.id)).toContain('1,000 Japanese yen, 6.666667 USDC');
    expect(await shop.invoice({ amount: 4.62, currency: 'EUR' })).toMatchObject({ amount_fiat: '4.62' });
  });

  it('is not created without a fresh rate of its currency, while others are', async () => {
    const shop = fixture.merchant();
    const post = (order: object) => shop.post('/api/invoices', { asset: 'ETH', amount: 10, ...order });
    const answer = await post({ currency: 'GBP' });
    expect(answer).toMatchObject({
      status: 503,
      body: { message: 'Service Unavailable', hint: expect.stringContaining('GBP') },
    });
    expect(answer.headers['retry-after']).toBeDefined();
    expect((await post({ currency: 'GBP', amount: 10.001 })).status).toBe(422);
    expect((await post({ currency: 'USD' })).status).toBe(201);
    expect((await post({ currency: 'EUR' })).status).toBe(201);
    expect((await shop.get('/api/invoices')).body.meta.total).toBe(2);
  });

  it('has US dollars when a replica of the former release wrote it', async () => {
    const shop = fixture.merchant();
    const { id } = await shop.invoice({ currency: 'EUR' });
    await fixture.rows('update invoices set currency = default, fiat_rate = default where id = $1', [id]);
    expect(await shop.read(id)).toMatchObject({
      currency: 'USD',
      rate: { currency: { code: 'USD', sources: [] } },
    });
  });
});

describe('the invoice settings of an account', () => {
  it('are the defaults until the account changes them, one by one', async () => {
    const shop = fixture.merchant();
    const settings = async () => (await shop.get(SETTINGS)).body;
    expect(await shop.get(SETTINGS)).toMatchObject({ status: 200 });
    const unset = {
      ...{ shop_name: null, shop_logo: null, language: null, redirect_hosts: [], frame_ancestors: [] },
    };
    expect(await settings()).toStrictEqual({ currency: 'USD', expires_in: 60, tolerance: '0', ...unset });
    const change = async (body: object, changed: object) => {
      const whole = { ...changed, ...unset };
      const { status, body: answered } = await shop.patch(SETTINGS, body);
      expect({ status, answered }).toStrictEqual({
        status: 200,
        answered: { message: 'Invoice settings updated successfully.', data: whole },
      });
      expect(await settings()).toStrictEqual(whole);
    };
    await change({ tolerance: '0.50' }, { currency: 'USD', expires_in: 60, tolerance: '0.5' });
    await change({ currency: 'EUR' }, { currency: 'EUR', expires_in: 60, tolerance: '0.5' });
    await change({ expires_in: null }, { currency: 'EUR', expires_in: null, tolerance: '0.5' });
    await change({}, { currency: 'EUR', expires_in: null, tolerance: '0.5' });
    await change(
      { currency: 'USD', expires_in: 5, tolerance: 0 },
      { currency: 'USD', expires_in: 5, tolerance: '0' },
    );
    expect((await fixture.merchant().get(SETTINGS)).body.expires_in).toBe(60);
  });

  it('are in force for the next invoice of the account on every replica, unless its request says otherwise', async () => {
    const shop = fixture.merchant();
    const other = await fixture.replica();
    await shop.invoice();
    const changes = { currency: 'JPY', expires_in: 5, tolerance: 10 };
    const now = fixture.clock.now();
    await api(other.port, 'PATCH', SETTINGS, { account: shop.account, body: changes, now });
    const at = (minutes: number) => new Date(now.getTime() + minutes * MINUTE).toISOString();
    const made = await shop.invoice({ amount: 3_750 });
    // 25.00000000000000125 dollars: rounded up.
    expect(made).toMatchObject({ currency: 'JPY', amount: '0.01000001', expires_at: at(5) });
    expect(await shop.invoice({ currency: 'USD', expires_in: 7 })).toMatchObject({
      currency: 'USD',
      expires_at: at(7),
    });
    expect(await fixture.merchant().invoice()).toMatchObject({ currency: 'USD', expires_at: at(60) });
    // A tenth too little is within the tolerance, and it is the invoice's own from now on.
    await shop.patch(SETTINGS, { tolerance: 0 });
    await pay(made.address.address.toLowerCase(), 9_000_009n * 10n ** 9n);
    await settle();
    const paid = { status: 'paid', paid_amount: '0.009000009', amount_remaining: '0' };
    const { address } = made.address;
    expect(await shop.read(made.id)).toMatchObject({ ...paid, address: { address, uri: address } });
  });

  it.each([
    [{ currency: 'DOGE' }, 'currency', 'The selected currency is invalid.'],
    [{ currency: null }, 'currency', 'The currency field is required.'],
    [{ expires_in: 0 }, 'expires_in', 'The expires in must be at least 1.'],
    [{ expires_in: 121 }, 'expires_in', 'The expires in must not be greater than 120.'],
    [{ tolerance: -0.5 }, 'tolerance', 'The tolerance must be at least 0.'],
    [{ tolerance: 10.01 }, 'tolerance', 'The tolerance must not be greater than 10.'],
    [{ tolerance: '0.001' }, 'tolerance', 'The tolerance must not have more than 2 decimal places.'],
    [{ tolerance: null }, 'tolerance', 'The tolerance field is required.'],
    [{ tolerence: 1 }, 'tolerence', 'The tolerence field is not known.'],
    [{ shop_name: 'x'.repeat(61) }, 'shop_name', 'The shop name must not be greater than 60 characters.'],
    [{ language: 'xx' }, 'language', 'The selected language is invalid.'],
    [
      { redirect_hosts: ['https://shop.example'] },
      'redirect_hosts.0',
      'The selected redirect hosts.0 is invalid.',
    ],
    [
      { redirect_hosts: Array(21).fill('shop.example') },
      'redirect_hosts',
      'The redirect hosts must not have more than 20 items.',
    ],
    ...["https://a.example; script-src 'unsafe-inline'", 'http://a.example', 'https://a.example/x', '*'].map(
      (origin) =>
        [
          { frame_ancestors: ['https://shop.example', origin] },
          'frame_ancestors.1',
          'The selected frame ancestors.1 is invalid.',
        ] as const,
    ),
  ])('are not changed by %j', async (wrong, field, message) => {
    const shop = fixture.merchant();
    const answer = await shop.patch(SETTINGS, { expires_in: 5, ...wrong });
    expect(answer).toMatchObject({ status: 422, body: { errors: { [field]: [message] } } });
    expect((await shop.get(SETTINGS)).body).toMatchObject({ expires_in: 60, redirect_hosts: [] });
  });

  it('have the tolerance of the operator until the account sets its own', async () => {
    const [shop, other] = [fixture.merchant(), fixture.merchant()];
    await other.patch(SETTINGS, { tolerance: 0 });
    fixture.ports.settings.toleranceBps = 125;
    const shown = await Promise.all(
      [shop, other].map(async (one) => (await one.get(SETTINGS)).body.tolerance),
    );
    fixture.ports.settings.toleranceBps = 0;
    expect(shown).toEqual(['1.25', '0']);
  });
});

describe('an invoice whose payer chooses the asset', () => {
  it('has a price in euros, which becomes an amount at the rates of both at the choice', async () => {
    const shop = fixture.merchant();
    const order = { amount: 10, assets: 'all', currency: 'EUR' };
    const made = (await shop.post('/api/invoices', order)).body.data;
    const { id } = made;
    const read = () => shop.read(id);
    expect(made).toMatchObject({ amount_fiat: '10.00', currency: 'EUR', rate: null, amount: null });
    // 10 × 1.0845 / 2500
    const shown = await page(id);
    expect(shown).toContain('<h1>10.00 euros</h1>');
    expect(shown).toContain('<small>about 0.004338 ETH</small>');

    const euro = fixture.fiatRates.get('EUR') as FiatRate;
    fixture.fiatRates.delete('EUR');
    expect(await choose(id)).toMatchObject({
      status: 503,
      body: expect.stringContaining('There is no exchange rate for this price at the moment.'),
    });
    expect(await page(id)).not.toContain('<form');
    expect(await read()).toStrictEqual(made);
    expect(await shop.post('/api/invoices', order)).toMatchObject({ status: 503 });
    fixture.fiatRates.set('EUR', aFiatRate('EUR', '2', fixture.clock.at));
    expect(await choose(id)).toMatchObject({ status: 303 });
    fixture.fiatRates.set('EUR', euro);
    const chosen = await read();
    expect(chosen).toMatchObject({
      ...{ amount_fiat: '10.00', currency: 'EUR', usd_rate: '2500', amount: '0.008' },
      rate: { currency: { code: 'EUR', usd_rate: '2' }, asset: { symbol: 'ETH', usd_rate: '2500' } },
    });
    expect((await fixture.told(id)).map(({ kind }) => kind)).toEqual([
      'invoice.created',
      'invoice.asset_chosen',
    ]);
    expect(await page(id)).toContain('10.00 euros, 0.008 ETH');
    // The limits and decimals of the currency hold as of every invoice.
    for (const [amount, currency, message] of [
      [4.61, 'EUR', 'The amount must be at least 4.62.'],
      [1000.5, 'JPY', 'The amount must not have more than 0 decimal places.'],
    ]) {
      const answer = await shop.post('/api/invoices', { assets: 'all', amount, currency });
      expect([answer.status, answer.body.errors]).toEqual([422, { amount: [message] }]);
    }
    const yen = await shop.post('/api/invoices', { assets: 'all', amount: 1000, currency: 'JPY' });
    expect(await page(yen.body.data.id)).toContain('<h1>1,000 Japanese yen</h1>');
  });

  it('has the settings of its account as they were when it was created, and may never expire', async () => {
    const shop = fixture.merchant();
    const settings = (body: object) => shop.patch('/api/invoice-settings', body);
    await settings({ currency: 'EUR', expires_in: null, tolerance: 10 });
    const order = { amount: 10, assets: 'all' };
    const [open, other] = [
      (await shop.post('/api/invoices', order)).body.data,
      (await shop.post('/api/invoices', order)).body.data,
    ];
    expect(open).toMatchObject({ currency: 'EUR', expires_at: null, status: 'pending' });
    await settings({ currency: 'USD', expires_in: 5, tolerance: 0 });
    fixture.pass(90 * 24 * 60 * MINUTE);
    await expireUnchosen(fixture.ports);
    expect(await shop.read(open.id)).toStrictEqual(open);
    expect(await page(open.id)).not.toContain('Time left');
    expect(await choose(open.id)).toMatchObject({ status: 303 });
    const chosen = await shop.read(open.id);
    expect(chosen).toMatchObject({ currency: 'EUR', expires_at: null, amount: '0.004338' });
    // A tenth too little is within the tolerance of the creation.
    await pay(chosen.address.address.toLowerCase(), 3_904_200n * 10n ** 9n);
    await settle();
    expect(await shop.read(open.id)).toMatchObject({ status: 'paid', paid_amount: '0.0039042' });

    const now = fixture.clock.at.toISOString();
    expect(await shop.post(`/api/invoices/${other.id}/cancel`, {})).toMatchObject({
      status: 200,
      body: { data: { status: 'expired', cancelled_at: now, expires_at: now, asset: null } },
    });
  });
});
