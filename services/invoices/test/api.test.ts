import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountId, newAccountId } from '@quittance/shared/ids';
import { pruneIdempotencyKeys } from '../src/store/invoices.ts';
import { api, aQuote, ETHER, type Fixture, MINUTE, startFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
  await fixture.scan();
});
afterAll(() => fixture.stop());

const ID = /^inv_[0-9a-hjkmnp-tv-z]{36}$/;

describe('POST /api/invoices', () => {
  it('returns the whole invoice with a locked rate and its own address', async () => {
    const merchant = fixture.merchant();
    const answer = await merchant.post('/api/invoices', {
      asset: 'ETH',
      amount: 10,
      expires_in: 30,
      external_id: ' order 7 ',
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
      pending_amount: '0',
      paid_amount: '0',
      reversed_amount: '0',
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
    const eth = fixture.quotes.get('ETH');
    if (eth === undefined) throw new Error('there is a quote');
    fixture.quotes.set('ETH', { ...eth, usd_rate: '2999.99' });
    const invoice = await fixture.merchant().invoice({ amount: '10.01' });
    fixture.quotes.set('ETH', eth);
    expect(invoice).toMatchObject({ amount_fiat: '10.01', usd_rate: '2999.99', amount: '0.00333668' });
    // The asset shows the current rate, and the amount due does not change.
    expect(await fixture.merchant(await accountOf(invoice.id)).read(invoice.id)).toMatchObject({
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

  it('gives every invoice its own address, also a hundred at once', async () => {
    const merchant = fixture.merchant();
    const invoices = await Promise.all(Array.from({ length: 100 }, () => merchant.invoice()));
    expect(new Set(invoices.map((invoice) => invoice.address.address)).size).toBe(100);
    const rows = await fixture.rows(
      `select count(*)::int as n, count(distinct derivation_index)::int as indexes from addresses`,
    );
    expect(rows[0].n).toBe(rows[0].indexes);
  });

  const wrong = 'The given data was invalid.';
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
    ['{"asset":"DOGE","amount":10}', { asset: ['The selected asset is invalid.'] }],
    ['{"asset":"BTC","amount":10}', { asset: ['The selected asset is invalid.'] }],
    // The asset is active, and its chain is not configured.
    ['{"asset":"SOL","amount":10}', { asset: ['The selected asset is invalid.'] }],
    ['{"asset":"SOL","amount":10}', { asset: ['The selected asset is invalid.'] }],
    ['{"asset":"eth","amount":10}', { asset: ['The selected asset is invalid.'] }],
    ['{"asset":7,"amount":10}', { asset: ['The asset must be a string.'] }],
    ['{"asset":["ETH"],"amount":10}', { asset: ['The asset must be a string.'] }],
    ['{"asset":"ETH","amount":4.99}', { amount: ['The amount must be at least 5.'] }],
    ['{"asset":"ETH","amount":0}', { amount: ['The amount must be at least 5.'] }],
    ['{"asset":"ETH","amount":-0}', { amount: ['The amount must be at least 5.'] }],
    ['{"asset":"ETH","amount":-7}', { amount: ['The amount must be at least 5.'] }],
    ['{"asset":"ETH","amount":-1e77}', { amount: ['The amount must be at least 5.'] }],
    ['{"asset":"ETH","amount":5.001}', { amount: ['The amount must not have more than 2 decimal places.'] }],
    [
      '{"asset":"ETH","amount":4.999}',
      { amount: ['The amount must be at least 5.', 'The amount must not have more than 2 decimal places.'] },
    ],
    ['{"asset":"ETH","amount":1e13}', { amount: ['The amount must not be greater than 1000000000000.'] }],
    ['{"asset":"ETH","amount":1e77}', { amount: ['The amount must not be greater than 1000000000000.'] }],
    ['{"asset":"ETH","amount":1e400}', { amount: ['The amount must be a number.'] }],
    ['{"asset":"ETH","amount":"ten"}', { amount: ['The amount must be a number.'] }],
    ['{"asset":"ETH","amount":true}', { amount: ['The amount must be a number.'] }],
    ['{"asset":"ETH","amount":[10]}', { amount: ['The amount must be a number.'] }],
    ['{"asset":"ETH","amount":{"a":1}}', { amount: ['The amount must be a number.'] }],
    ['{"asset":"ETH","amount":10,"expires_in":0}', { expires_in: ['The expires in must be at least 1.'] }],
    [
      '{"asset":"ETH","amount":10,"expires_in":121}',
      { expires_in: ['The expires in must not be greater than 120.'] },
    ],
    ['{"asset":"ETH","amount":10,"expires_in":1.5}', { expires_in: ['The expires in must be an integer.'] }],
    [
      '{"asset":"ETH","amount":10,"expires_in":"soon"}',
      { expires_in: ['The expires in must be an integer.'] },
    ],
    [
      JSON.stringify({ asset: 'ETH', amount: 10, external_id: 'x'.repeat(256) }),
      { external_id: ['The external id must not be greater than 255 characters.'] },
    ],
    ['{"asset":"ETH","amount":10,"external_id":5}', { external_id: ['The external id must be a string.'] }],
    [
      '{"asset":"ETH","amount":10,"external_id":"a\\u0000b"}',
      { external_id: ['The external id must be a string.'] },
    ],
    [
      '{"asset":"ETH","amount":10,"external_id":"\\ud800"}',
      { external_id: ['The external id must be a string.'] },
    ],
    [
      '{"asset":"ETH","amount":10,"succeed_url":"shop"}',
      { succeed_url: ['The succeed url must be a valid URL.'] },
    ],
    [
      '{"asset":"ETH","amount":10,"timeout_url":"javascript:alert(1)"}',
      { timeout_url: ['The timeout url must be a valid URL.'] },
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
  ])('422: %s', async (body, errors) => {
    const answer = await fixture.merchant().post('/api/invoices', body);
    expect(answer.status).toBe(422);
    expect(answer.body).toStrictEqual({ message: wrong, errors });
  });

  it.each([
    ['{"asset":"ETH","amount":"5"}'],
    ['{"asset":" ETH ","amount":5}'],
    ['{"asset":"ETH","amount":5.00}'],
    ['{"asset":"ETH","amount":1000000000000}'],
    ['{"asset":"ETH","amount":10,"expires_in":"120"}'],
    [JSON.stringify({ asset: 'ETH', amount: 10, external_id: '😀'.repeat(255) })],
    ['{"asset":"DOGE","asset":"ETH","amount":10}'],
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
    fixture.board.stale = false;
    expect(answer).toMatchObject({ status: 503, body: { message: 'Service Unavailable' } });
    expect(answer.headers['retry-after']).toBeDefined();
    expect(refused.status).toBe(422);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(0);
  });

  it('refuses an asset that is switched off', async () => {
    fixture.quotes.set(
      'USDC_ERC20',
      aQuote({ asset: 'USDC_ERC20', usd_rate: '1', active: false }, fixture.clock.at),
    );
    const answer = await fixture.merchant().post('/api/invoices', { asset: 'USDC_ERC20', amount: 10 });
    fixture.quotes.set(
      'USDC_ERC20',
      aQuote({ asset: 'USDC_ERC20', usd_rate: '1', dust: '10000' }, fixture.clock.at),
    );
    expect(answer).toMatchObject({
      status: 422,
      body: { errors: { asset: ['The selected asset is invalid.'] } },
    });
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

describe('Idempotency-Key', () => {
  const key = (text: string) => ({ 'idempotency-key': text });

  it('the same key and body return the first answer and create one invoice', async () => {
    const merchant = fixture.merchant();
    const first = await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
    fixture.pass(MINUTE);
    fixture.board.stale = true;
    const second = await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
    fixture.board.stale = false;
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.headers['location']).toBe(first.headers['location']);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(1);
  });

  it('the same key with another body is refused', async () => {
    const merchant = fixture.merchant();
    await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
    const answer = await merchant.post('/api/invoices', { asset: 'ETH', amount: 11 }, key('a'));
    expect(answer).toMatchObject({
      status: 422,
      body: { errors: { 'Idempotency-Key': ['The Idempotency-Key was used before with another body.'] } },
    });
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(1);
  });

  it('a refused request leaves its key free', async () => {
    const merchant = fixture.merchant();
    expect((await merchant.post('/api/invoices', { asset: 'ETH', amount: 1 }, key('a'))).status).toBe(422);
    expect((await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'))).status).toBe(201);
  });

  it('the same key of another account is independent', async () => {
    const body = { asset: 'ETH', amount: 10 };
    const one = await fixture.merchant().post('/api/invoices', body, key('a'));
    const other = await fixture.merchant().post('/api/invoices', body, key('a'));
    expect(one.body.data.id).not.toBe(other.body.data.id);
  });

  it('fifty concurrent requests create one invoice with one address', async () => {
    const merchant = fixture.merchant();
    const body = { asset: 'ETH', amount: 10 };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => merchant.post('/api/invoices', body, key('same'))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(1);
    const told = await fixture.rows(`select 1 from outbox where payload->>'account_id' = $1`, [
      merchant.account,
    ]);
    expect(told).toHaveLength(1);
  });

  it('is at most 255 characters long', async () => {
    const merchant = fixture.merchant();
    const body = { asset: 'ETH', amount: 10 };
    expect((await merchant.post('/api/invoices', body, key('k'.repeat(255)))).status).toBe(201);
    expect(await merchant.post('/api/invoices', body, key('k'.repeat(256)))).toMatchObject({
      status: 422,
      body: { errors: { 'Idempotency-Key': [expect.stringContaining('255')] } },
    });
  });

  it('is deleted after 30 days', async () => {
    const prune = () => pruneIdempotencyKeys(fixture.ports.db, fixture.clock.at, 500);
    const merchant = fixture.merchant();
    await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('old'));
    const own = () =>
      fixture.rows('select 1 from idempotency_keys where account_id = $1', [merchant.account]);
    const created = `update idempotency_keys set created_at = $2::timestamptz - $3::interval where account_id = $1`;
    await fixture.rows(created, [merchant.account, fixture.clock.at, '29 days']);
    await prune();
    expect(await own()).toHaveLength(1);
    await fixture.rows(created, [merchant.account, fixture.clock.at, '30 days 1 second']);
    await prune();
    expect(await own()).toHaveLength(0);
  });
});

describe('many requests at once', () => {
  it('share statements, and each has its own answer', async () => {
    const merchant = fixture.merchant();
    const orders = Array.from({ length: 100 }, (_, i) => ({
      amount: 5 + i,
      external_id: i % 3 === 0 ? null : `o${i}`,
    }));
    const made = await Promise.all(orders.map((order) => merchant.invoice(order)));
    for (const [i, invoice] of made.entries()) {
      expect(invoice).toMatchObject({
        amount_fiat: `${5 + i}.00`,
        external_id: orders[i]?.external_id ?? null,
      });
    }
    const stranger = await fixture.merchant().invoice();
    const unknown = `inv_${'0'.repeat(36)}`;
    const ids = [...made.map(({ id }) => id as string), stranger.id as string, unknown, made[0].id as string];
    const read = await Promise.all(ids.map((id) => merchant.get(`/api/invoices/${id}`)));
    expect(read.map(({ status }) => status)).toEqual([...made.map(() => 200), 403, 404, 200]);
    expect(read.slice(0, 100).map(({ body }) => body)).toEqual(made);
    for (const { id, address } of made) {
      expect(await fixture.told(id)).toHaveLength(1);
      const rows = await fixture.rows('select invoice_id, given_height from addresses where address = $1', [
        address.address.toLowerCase(),
      ]);
      expect(rows).toEqual([{ invoice_id: id, given_height: fixture.chain.height() }]);
    }
  });

  it('a request that the database refuses fails alone', async () => {
    const merchant = fixture.merchant();
    const { take } = fixture.watchedChain.addresses;
    // One of them gets the address of another invoice.
    const taken = await merchant.invoice();
    const [{ derivation_index }] = await fixture.rows(
      'select derivation_index from addresses where invoice_id = $1',
      [taken.id],
    );
    let asked = 0;
    fixture.watchedChain.addresses.take = async () => {
      asked += 1;
      return asked === 7
        ? { address: taken.address.address.toLowerCase(), derivationIndex: derivation_index }
        : await take();
    };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => merchant.post('/api/invoices', { asset: 'ETH', amount: 10 })),
    );
    fixture.watchedChain.addresses.take = take;
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(19).fill(201), 500]);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(20);
  });
});

describe('GET /api/invoices/{id}', () => {
  it('an invoice of another account is forbidden, and an unknown one does not exist', async () => {
    const invoice = await fixture.merchant().invoice();
    const stranger = fixture.merchant();
    expect(await stranger.get(`/api/invoices/${invoice.id}`)).toMatchObject({
      status: 403,
      body: { message: 'This action is unauthorized.' },
    });
    for (const id of [`inv_${'0'.repeat(36)}`, 'inv_1', '1', 'a%00b', '%F0%9F%98%80', `${invoice.id}x`]) {
      expect(await stranger.get(`/api/invoices/${id}`)).toMatchObject({
        status: 404,
        body: { message: 'No query results for model [Invoice].' },
      });
    }
  });

  it('shows each payment with its confirmations', async () => {
    const merchant = fixture.merchant();
    const invoice = await merchant.invoice();
    const to = invoice.address.address.toLowerCase();
    const tx = `0x${'cd'.repeat(32)}`;
    fixture.chain.mine({ pay: [{ to, amount: ETHER / 100n, tx }] }, {});
    await fixture.scan();
    const seen = fixture.clock.at.toISOString();
    expect((await merchant.read(invoice.id)).payments).toStrictEqual([
      {
        tx_hash: tx,
        output_index: 0,
        amount: '0.01',
        status: 'pending',
        confirmations: 2,
        required_confirmations: 3,
        block_height: fixture.chain.height() - 1,
        first_seen_at: seen,
        confirmed_at: null,
      },
    ]);
    fixture.pass(1_000);
    fixture.chain.mine({});
    await fixture.scan();
    expect((await merchant.read(invoice.id)).payments).toMatchObject([
      {
        status: 'confirmed',
        confirmations: 3,
        first_seen_at: seen,
        confirmed_at: fixture.clock.at.toISOString(),
      },
    ]);
  });

  it('answers HEAD like GET, without the body', async () => {
    const merchant = fixture.merchant();
    const invoice = await merchant.invoice();
    const { account } = merchant;
    const call = { account, now: fixture.clock.now() };
    const head = await api(fixture.service.port, 'HEAD', `/api/invoices/${invoice.id}`, call);
    expect(head).toMatchObject({ status: 200, body: '' });
    const get = await merchant.get(`/api/invoices/${invoice.id}`);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });
});

describe('GET /api/invoices', () => {
  it('lists the caller’s invoices, newest first, in the short form', async () => {
    const merchant = fixture.merchant();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      fixture.pass(1);
      ids.unshift((await merchant.invoice({ external_id: `o${n}` })).id);
    }
    const { status, body } = await merchant.get('/api/invoices');
    expect(status).toBe(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(Object.keys(body.data[0]).sort()).toEqual(
      [
        'id',
        'external_id',
        'amount_fiat',
        'usd_rate',
        'status',
        'expires_at',
        'paid_at',
        'created_at',
        'amount',
        'asset',
      ].sort(),
    );
    expect(Object.keys(body.data[0].asset).sort()).toEqual(
      [
        'id',
        'name',
        'symbol',
        'chain',
        'type',
        'decimals',
        'usd_rate',
        'network_fee',
        'min_confirmations',
      ].sort(),
    );
    expect((await fixture.merchant().get('/api/invoices')).body).toStrictEqual({
      data: [],
      links: {
        first: 'https://pay.example/api/invoices?page=1',
        last: 'https://pay.example/api/invoices?page=1',
        prev: null,
        next: null,
      },
      meta: {
        current_page: 1,
        from: null,
        last_page: 1,
        links: [
          { url: null, label: '&laquo; Previous', active: false },
          { url: 'https://pay.example/api/invoices?page=1', label: '1', active: true },
          { url: null, label: 'Next &raquo;', active: false },
        ],
        path: 'https://pay.example/api/invoices',
        per_page: 10,
        to: null,
        total: 0,
      },
    });
  });

  it('counts a long list up to 10,000 and links the next page beyond it', async () => {
    const merchant = fixture.merchant();
    const { id } = await merchant.invoice();
    await fixture.rows(
      `insert into invoices select (jsonb_populate_record(i, jsonb_build_object('id', 'inv_long_' || n))).*
       from invoices i, generate_series(1, 10004) as n where i.id = $1`,
      [id],
    );
    const page = async (number: number) => (await merchant.get(`/api/invoices?page=${number}`)).body;
    expect((await page(1)).meta).toMatchObject({ total: 10_000, last_page: 1_000 });
    const beyond = await page(1_000);
    expect(beyond.meta.total).toBe(10_001);
    expect(beyond.links.next).toBe('https://pay.example/api/invoices?page=1001');
    const last = await page(1_001);
    expect(last.meta).toMatchObject({ to: 10_005, total: 10_005 });
    expect(last.links.next).toBeNull();
  });

  it('returns pages whose links keep the filters', async () => {
    const merchant = fixture.merchant();
    for (let n = 0; n < 5; n++) await merchant.invoice({ external_id: 'same' });
    const path = 'https://pay.example/api/invoices?perPage=2&external_id=same&page=';
    const middle = (await merchant.get('/api/invoices?perPage=2&page=2&external_id=same')).body;
    expect(middle.data).toHaveLength(2);
    expect(middle.links).toEqual({ first: `${path}1`, last: `${path}3`, prev: `${path}1`, next: `${path}3` });
    expect(middle.meta).toMatchObject({
      current_page: 2,
      from: 3,
      to: 4,
      last_page: 3,
      per_page: 2,
      total: 5,
    });
    const last = (await merchant.get('/api/invoices?perPage=2&page=3')).body;
    expect(last.data).toHaveLength(1);
    expect(last.links).toMatchObject({ next: null });
    const beyond = (await merchant.get('/api/invoices?perPage=2&page=9')).body;
    expect(beyond).toMatchObject({ data: [], meta: { current_page: 9, from: null, to: null, total: 5 } });
    const all = [1, 2, 3].map(
      async (page) => (await merchant.get(`/api/invoices?perPage=2&page=${page}`)).body.data,
    );
    const ids = (await Promise.all(all)).flat().map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(5);
  });

  it.each(['0', '-1', 'x', '', '1.5'])('page=%s is page 1', async (page) => {
    const answer = await fixture.merchant().get(`/api/invoices?page=${page}`);
    expect(answer).toMatchObject({ status: 200, body: { meta: { current_page: 1 } } });
  });

  it.each([
    ['perPage=0', { perPage: ['The per page must be at least 1.'] }],
    ['perPage=101', { perPage: ['The per page must not be greater than 100.'] }],
    ['perPage=x', { perPage: ['The per page must be an integer.'] }],
    ['status=open', { status: ['The selected status is invalid.'] }],
    ['asset=DOGE', { asset: ['The selected asset is invalid.'] }],
    ['created_from=yesterday', { created_from: ['The created from is not a valid date.'] }],
    [
      `external_id=${'x'.repeat(256)}`,
      { external_id: ['The external id must not be greater than 255 characters.'] },
    ],
    ['external_id=%00', { external_id: ['The external id must be a string.'] }],
  ])('422: ?%s', async (query, errors) => {
    const answer = await fixture.merchant().get(`/api/invoices?${query}`);
    expect(answer).toMatchObject({ status: 422, body: { message: 'The given data was invalid.', errors } });
  });

  it('filters by status, asset, reference and time', async () => {
    const merchant = fixture.merchant();
    const start = fixture.clock.now();
    const first = await merchant.invoice({ external_id: 'one' });
    fixture.pass(1);
    const second = await merchant.invoice({ asset: 'USDC_ERC20', external_id: 'two' });
    fixture.pass(1);
    const third = await merchant.invoice({ external_id: 'one' });
    const to = third.address.address.toLowerCase();
    fixture.chain.mine({ pay: [{ to, amount: ETHER }] });
    await fixture.scan();

    const ids = async (query: string) =>
      (await merchant.get(`/api/invoices?${query}`)).body.data.map(({ id }: { id: string }) => id);
    const at = (ms: number) => encodeURIComponent(new Date(start.getTime() + ms).toISOString());
    expect(await ids('status=pending')).toEqual([second.id, first.id]);
    expect(await ids('status=confirmed')).toEqual([third.id]);
    expect(await ids('asset=USDC_ERC20')).toEqual([second.id]);
    expect(await ids('external_id=one')).toEqual([third.id, first.id]);
    expect(await ids('external_id=one&status=confirmed&asset=ETH')).toEqual([third.id]);
    expect(await ids(`created_from=${at(1)}`)).toEqual([third.id, second.id]);
    expect(await ids(`created_to=${at(1)}`)).toEqual([second.id, first.id]);
    expect(await ids(`created_from=${at(1)}&created_to=${at(1)}`)).toEqual([second.id]);
    expect(await ids('created_from=0001-01-01&created_to=9999-12-31')).toHaveLength(3);
    expect(await ids('created_to=0001-01-01')).toEqual([]);
    expect((await merchant.get('/api/invoices?status=pending&perPage=1')).body.meta.total).toBe(2);
  });
});

async function accountOf(id: string): Promise<AccountId> {
  const [row] = await fixture.rows('select account_id from invoices where id = $1', [id]);
  return row.account_id;
}
