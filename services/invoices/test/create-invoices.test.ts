import { describe, expect, it } from '@jest/globals';
import { newAccountId } from '@quittance/shared/ids';
import type { Quote } from '@quittance/shared/quotes';
import { api } from '@quittance/testkit/api';
import { MINUTE, openFixture } from './fixture.ts';

const { fixture } = await openFixture();

const ID = /^inv_[0-9a-hjkmnp-tv-z]{36}$/;

describe('POST /api/invoices', () => {
  it('returns the whole invoice with a locked rate and its own address', async () => {
    const merchant = fixture.merchant();
    const answer = await merchant.post('/api/invoices', {
      asset: 'ETH',
      amount: 10,
      expires_in: 30,
      external_id: ' order 7 ',
      description: ' Two tickets ',
      metadata: { order: ' 7 ', a: '' },
      succeed_url: 'https://shop.example/thanks?o=7',
      timeout_url: 'https://shop.example/late',
    });
    expect(answer.status).toBe(201);
    expect(answer.headers['location']).toBe(answer.body.data.url);
    const { id, address } = answer.body.data;
    expect(id).toMatch(ID);
    expect(address.address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(address.address).not.toBe(address.address.toLowerCase());
    const asset = {
      id: 2,
      name: 'Ethereum',
      symbol: 'ETH',
      chain: 'ethereum',
      type: 'native',
      decimals: 18,
      usd_rate: '2500',
      network_fee: '0.0005',
      min_confirmations: 3,
    };
    const quoted = fixture.quotes.get('ETH')?.as_of;
    const whole = {
      id,
      external_id: 'order 7',
      amount_fiat: '10.00',
      usd_rate: '2500',
      status: 'pending',
      expires_at: new Date(fixture.clock.at.getTime() + 30 * MINUTE).toISOString(),
      paid_at: null,
      created_at: fixture.clock.at.toISOString(),
      amount: '0.004',
      currency: 'USD',
      rate: {
        currency: { code: 'USD', usd_rate: '1', as_of: null, sources: [] },
        asset: {
          symbol: 'ETH',
          usd_rate: '2500',
          as_of: quoted,
          sources: [{ name: 'file', usd_rate: '2500', read_at: quoted }],
        },
      },
      pending_amount: '0',
      paid_amount: '0',
      reversed_amount: '0',
      amount_remaining: '0.004',
      refunded_amount: '0',
      refunds: [],
      cancelled_at: null,
      description: 'Two tickets',
      metadata: { order: ' 7 ', a: '' },
      url: `https://pay.example/pay/${id}`,
      asset,
      address: {
        address: address.address,
        uri: `ethereum:${address.address}@31337?value=4000000000000000`,
      },
      payments: [],
    };
    expect(answer.body).toStrictEqual({ message: expect.any(String), data: whole });
    expect(await merchant.get(`/api/invoices/${id}`)).toMatchObject({ status: 200, body: whole });
    expect(await merchant.read(id)).toStrictEqual(whole);
    expect(await fixture.told(id)).toStrictEqual([
      {
        kind: 'invoice.created',
        payload: { account_id: merchant.account, resource_id: id, version: 1, data: whole },
      },
    ]);
    const [row] = await fixture.rows('select quote, usd_rate from invoices where id = $1', [id]);
    expect(row).toMatchObject({ usd_rate: '2500', quote: { sources: [{ name: 'file', usd_rate: '2500' }] } });
  });

  it('rounds the amount due up, so that the merchant is never short', async () => {
    const eth = fixture.quotes.get('ETH') as Quote;
    fixture.quotes.set('ETH', { ...eth, usd_rate: '2999.99' });
    const shop = fixture.merchant();
    const invoice = await shop.invoice({ amount: '10.01' });
    fixture.quotes.set('ETH', eth);
    expect(invoice).toMatchObject({ amount_fiat: '10.01', usd_rate: '2999.99', amount: '0.00333668' });
    // The asset shows the current rate, and the amount due does not change.
    expect(await shop.read(invoice.id)).toMatchObject({
      usd_rate: '2999.99',
      amount: '0.00333668',
      asset: { usd_rate: '2500' },
    });
  });

  it('accepts numbers as text, and expires in 60 minutes by default', async () => {
    const merchant = fixture.merchant();
    const answer = await merchant.post('/api/invoices', '{"asset":"USDC_ERC20","amount":5.10e0}');
    expect(answer.body.data).toMatchObject({
      amount_fiat: '5.10',
      amount: '5.1',
      external_id: null,
      expires_at: new Date(fixture.clock.at.getTime() + 60 * MINUTE).toISOString(),
    });
    expect(answer.body.data.address.uri).toBe(
      `ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@31337/transfer?address=${answer.body.data.address.address}&uint256=5100000`,
    );
  });

  async function expectRefused(body: string, errors: object) {
    const answer = await fixture.merchant().post('/api/invoices', body);
    expect(answer.status).toBe(422);
    expect(answer.body).toStrictEqual({
      message: 'The given data was invalid.',
      errors,
      code: 'invalid_request',
      hint: expect.any(String),
      request_id: answer.headers['x-request-id'],
      doc_url: 'https://pay.example/docs/errors#invalid_request',
    });
    return answer;
  }
  const required = {
    asset: ['The asset field is required.'],
    amount: ['The amount field is required.'],
  };
  it.each([
    ['{}', required],
    ['', required],
    ['not json', required],
    ['[]', required],
    ['"text"', required],
    ['{"asset":null,"amount":""}', required],
    ['{"asset":" ","amount":"  "}', required],
    [
      '{"asset":"ETH","amount":4.999}',
      { amount: ['The amount must be at least 5.', 'The amount must not have more than 2 decimal places.'] },
    ],
    [
      '{"asset":"BTC","amount":1,"expires_in":500,"succeed_url":7}',
      {
        asset: ['The selected asset is invalid.'],
        amount: ['The amount must be at least 5.'],
        expires_in: ['The expires in must not be greater than 120.'],
        succeed_url: ['The succeed url must be a string.'],
      },
    ],
  ])('422: %s', expectRefused);

  const large = 'The amount must not be greater than 1000000000000.';
  it.each([
    ['asset', '"DOGE"', 'The selected asset is invalid.'],
    ['asset', '"BTC"', 'The selected asset is invalid.'],
    // The asset is active, and its chain is not configured.
    ['asset', '"SOL"', 'The selected asset is invalid.'],
    ['asset', '"eth"', 'The selected asset is invalid.'],
    ['asset', '7', 'The asset must be a string.'],
    ['asset', '["ETH"]', 'The asset must be a string.'],
    ['amount', '4.99', 'The amount must be at least 5.'],
    ['amount', '0', 'The amount must be at least 5.'],
    ['amount', '-0', 'The amount must be at least 5.'],
    ['amount', '-7', 'The amount must be at least 5.'],
    ['amount', '-1e77', 'The amount must be at least 5.'],
    ['amount', '5.001', 'The amount must not have more than 2 decimal places.'],
    ['amount', '1e13', large],
    ['amount', '1e77', large],
    ['amount', '1e400', 'The amount must be a number.'],
    ['amount', '{"a":1}', 'The amount must be a number.'],
    ['expires_in', '0', 'The expires in must be at least 1.'],
    ['expires_in', '121', 'The expires in must not be greater than 120.'],
    ['expires_in', '1.5', 'The expires in must be an integer.'],
    ['external_id', `"${'x'.repeat(256)}"`, 'The external id must not be greater than 255 characters.'],
    ['external_id', '5', 'The external id must be a string.'],
    ['succeed_url', '"shop"', 'The succeed url must be a valid URL.'],
    ['timeout_url', '"javascript:alert(1)"', 'The timeout url must be a valid URL.'],
    ['description', `"${'x'.repeat(501)}"`, 'The description must not be greater than 500 characters.'],
    ['metadata.a', '{"a":5}', 'The metadata.a must be a string.'],
    ['currency', '"SEK"', 'The selected currency is invalid.'],
  ])('422: %s is %s', async (field, json, message) => {
    const [name = ''] = field.split('.');
    const fields = Object.entries({ asset: '"ETH"', amount: '10', [name]: json });
    const body = `{${fields.map(([key, value]) => `"${key}":${value}`).join()}}`;
    const answer = await expectRefused(body, { [field]: [message] });
    if (name === 'currency') expect(answer.body.hint).toContain('Valid: USD, EUR, GBP, CHF, JPY, CAD, AUD.');
  });

  it.each([
    ['{"asset":"ETH","amount":"5"}'],
    ['{"asset":" ETH ","amount":5}'],
    ['{"asset":"ETH","amount":5.00}'],
    ['{"asset":"ETH","amount":1000000000000}'],
    ['{"asset":"ETH","amount":10,"expires_in":"120"}'],
    [JSON.stringify({ asset: 'ETH', amount: 10, external_id: '😀'.repeat(255) })],
  ])('201: %s', async (body) => {
    expect(await fixture.merchant().post('/api/invoices', body)).toMatchObject({ status: 201 });
  });

  it('refuses a body over 64 kB', async () => {
    const body = JSON.stringify({ asset: 'ETH', amount: 10, external_id: 'x'.repeat(70_000) });
    expect(await fixture.merchant().post('/api/invoices', body)).toMatchObject({
      status: 413,
      body: { message: 'The body must not be greater than 64 kilobytes.' },
    });
  });

  it('creates nothing without a fresh rate, and reports invalid fields first', async () => {
    fixture.board.stale = true;
    const merchant = fixture.merchant();
    const answer = await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 });
    const refused = await merchant.post('/api/invoices', { asset: 'ETH', amount: 1 });
    expect(answer).toMatchObject({ status: 503, body: { message: 'Service Unavailable' } });
    expect(answer.headers['retry-after']).toBeDefined();
    expect(refused.status).toBe(422);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(0);
  });

  it('refuses an asset that is switched off', async () => {
    fixture.quotes.set('ETH', { ...(fixture.quotes.get('ETH') as Quote), active: false });
    await expectRefused('{"asset":"ETH","amount":10}', { asset: ['The selected asset is invalid.'] });
  });

  it('refuses requests without the gateway’s signed identity', async () => {
    const now = fixture.clock.now();
    const { port } = fixture.service;
    const body = { asset: 'ETH', amount: 10 };
    expect(await api(port, 'POST', '/api/invoices', { body, now })).toMatchObject({
      status: 401,
      body: { message: 'Unauthenticated.' },
    });
    const account = newAccountId(now);
    const old = new Date(now.getTime() - 6 * MINUTE);
    expect(await api(port, 'GET', '/api/invoices', { account, now: old })).toMatchObject({ status: 503 });
    const headers = { 'x-quittance-identity': 'eyJhY2NvdW50IjoiYSJ9.forged' };
    expect(await api(port, 'GET', '/api/invoices', { headers, now })).toMatchObject({ status: 401 });
  });
});
