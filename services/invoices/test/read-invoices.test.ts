import { describe, expect, it } from '@jest/globals';
import { api } from '@quittance/testkit/api';
import { expireUnchosen } from '../src/operations/expire-unchosen.ts';
import { DUE, ETHER, MINUTE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

const { fixture, anInvoice, mine, pass, pay, settle } = await openFixture();

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
    const { to, read, expectShown } = await anInvoice();
    const tx = newTx();
    await mine({ pay: [{ to, amount: DUE, tx }] }, {});
    const seen = fixture.clock.at.toISOString();
    expect((await read()).payments).toStrictEqual([
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
        explorer_url: `https://scan.example/tx/${tx}`,
      },
    ]);
    await pass(1_000);
    const confirmed_at = fixture.clock.at.toISOString();
    await expectShown({
      payments: [{ status: 'confirmed', confirmations: 3, first_seen_at: seen, confirmed_at }],
    });
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
    expect(Object.keys(body.data[0])).toEqual([
      ...['id', 'external_id', 'amount_fiat', 'usd_rate', 'status', 'expires_at', 'paid_at', 'created_at'],
      ...['amount', 'asset'],
    ]);
    const { asset } = await merchant.read(ids[0] as string);
    expect(body.data[0].asset).toEqual(asset);
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
      `insert into invoices select copy.* from invoices i, generate_series(1, 10004) as n,
         jsonb_populate_record(i, jsonb_build_object('id', 'inv_long_' || n)) as copy
       where i.id = $1`,
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
    await mine({ pay: [{ to, amount: ETHER }] });

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

  it('filters by currency, before and after the choice of the asset', async () => {
    const shop = fixture.merchant();
    const chosen = await shop.invoice({ amount: 10, currency: 'EUR' });
    fixture.pass(1);
    const unchosen = await shop.post('/api/invoices', { amount: 10, assets: 'all', currency: 'EUR' });
    const inDollars = await shop.invoice({ amount: 10 });
    const list = async (search: string) => (await shop.get(`/api/invoices?${search}`)).body;
    expect((await list('currency=EUR')).data).toMatchObject([
      { id: unchosen.body.data.id, currency: 'EUR', asset: null },
      { id: chosen.id, currency: 'EUR', asset: { symbol: 'ETH' } },
    ]);
    expect(await list('currency=USD')).toMatchObject({ data: [{ id: inDollars.id }], meta: { total: 1 } });
    expect((await list('currency=usd')).hint).toContain('Did you mean USD?');
  });

  it('lists invoices before and after the choice together, newest first, with right totals', async () => {
    const shop = fixture.merchant();
    const ids: string[] = [];
    for (const order of [{ asset: 'ETH' }, { assets: 'all' }, { asset: 'ETH' }, { assets: ['ETH'] }]) {
      fixture.pass(1);
      const { body } = await shop.post('/api/invoices', {
        amount: 25,
        external_id: `o${ids.length}`,
        ...order,
      });
      ids.unshift(body.data.id);
    }
    const list = async (search: string) => {
      const { status, body } = await shop.get(`/api/invoices?${search}`);
      expect(status).toBe(200);
      return { ids: body.data.map(({ id }: { id: string }) => id), total: body.meta.total, data: body.data };
    };
    const [newest = '', third = '', second = '', oldest = ''] = ids;
    expect(await list('')).toMatchObject({ ids, total: 4 });
    expect(await list('perPage=2')).toMatchObject({ ids: [newest, third], total: 4 });
    expect(await list('perPage=2&page=2')).toMatchObject({ ids: [second, oldest], total: 4 });
    expect(await list('status=pending&amount_fiat=25&external_id_prefix=o')).toMatchObject({ ids, total: 4 });
    expect(await list('external_id=o1')).toMatchObject({ ids: [second], total: 1 });
    for (const search of ['asset=ETH', 'asset=ETH&status=pending']) {
      expect(await list(search)).toMatchObject({ ids: [third, oldest], total: 2 });
    }
    const { address } = (await shop.read(third)).address;
    expect(await list(`address=${address}`)).toMatchObject({ ids: [third], total: 1 });
    const item = (await list('external_id=o1')).data[0];
    expect(Object.keys(item)).toEqual(Object.keys((await list('external_id=o2')).data[0]));
    expect(item).toMatchObject({ usd_rate: null, amount: null, asset: null });
    const whole = await Promise.all(ids.map((id) => shop.read(id)));
    expect((await list('expand=payments')).data).toStrictEqual(whole);
    await pass(61 * MINUTE);
    await expireUnchosen(fixture.ports);
    expect(await list('status=expired')).toMatchObject({ ids, total: 4 });
    expect((await fixture.merchant().get('/api/invoices')).body.meta.total).toBe(0);
  });

  it('finds invoices by when they were paid, both ends included, whenever they were created', async () => {
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
});
