import { describe, expect, it } from '@jest/globals';
import { chooseAsset } from '../src/operations/choose-asset.ts';
import { describeInvoice } from '../src/operations/describe-invoice.ts';
import { expireUnchosen } from '../src/operations/expire-unchosen.ts';
import type { Ports } from '../src/ports.ts';
import { DUE, MINUTE, openFixture } from './fixture.ts';
import { linksOf } from './link-fixture.ts';
import type { Any } from './replica.ts';

const { fixture, pay, settle } = await openFixture();
const { ports } = fixture;
const { choose, page: pageAt, unchosen } = linksOf(fixture);
const page = (id: string) => pageAt(`/pay/${id}`);

describe('an invoice whose payer chooses the asset', () => {
  it('has no asset, rate, amount or address until the choice, and is an ordinary invoice afterwards', async () => {
    const description = 'a <b>chair</b>';
    const { shop, made, id, kinds, read } = await unchosen({
      ...{ description, external_id: 'o-1', metadata: { a: 'b' }, expires_in: 30 },
    });
    expect(made).toEqual({
      ...{ id, external_id: 'o-1', amount_fiat: '25.00', usd_rate: null, status: 'pending', paid_at: null },
      ...{ expires_at: made.expires_at, created_at: made.created_at, amount: null, currency: 'USD' },
      ...{ rate: null, refunds: [], refunded_amount: '0' },
      ...{ pending_amount: '0', paid_amount: '0', reversed_amount: '0', amount_remaining: null },
      ...{ cancelled_at: null, description, metadata: { a: 'b' }, url: `https://pay.example/pay/${id}` },
      ...{ assets: ['ETH', 'USDC_ERC20'], asset: null, address: null, payments: [] },
    });
    expect(await read()).toStrictEqual(made);
    expect((await fixture.told(made.id)).at(-1)?.payload).toMatchObject({ version: 1, data: made });

    const shown = await page(made.id);
    expect(shown.status).toBe(200);
    expect(shown.headers['content-security-policy']).toContain("form-action 'self'");
    expect(shown.headers['content-security-policy']).toContain("default-src 'none'");
    expect(shown.body.replace(/<script>[\s\S]*?<\/script>/, '')).not.toMatch(/<script|\sstyle=|<b>|o-1|acc_/);
    for (const part of [
      `<form method="post" action="/pay/${id}/choose">`,
      '<button class="button" name="asset" value="ETH">ETH on Ethereum<small>about 0.01 ETH</small></button>',
      'value="USDC_ERC20">USDC on Ethereum<small>about 25 USDC</small>',
      '25.00 US dollars',
      'a &lt;b&gt;chair&lt;/b&gt;',
      '30 minutes',
    ])
      expect(shown.body).toContain(part);

    // The rate is that of the choice, the expiry that of the creation.
    fixture.pass(10 * MINUTE);
    const quote = fixture.quotes.get('ETH') as Any;
    fixture.quotes.set('ETH', { ...quote, usd_rate: '1250' });
    const answer = await choose(made.id);
    fixture.quotes.set('ETH', quote);
    expect(answer).toMatchObject({ status: 303, headers: { location: `/pay/${id}` }, body: '' });
    const chosen = await read();
    const { assets: _, rate: _unknown, ...kept } = made;
    expect(chosen).toMatchObject({
      ...kept,
      ...{ usd_rate: '1250', amount: '0.02', amount_remaining: '0.02' },
      ...{ asset: { symbol: 'ETH' }, address: { address: expect.stringMatching(/^0x/) } },
    });
    expect(chosen).not.toHaveProperty('assets');
    expect(chosen).not.toHaveProperty('payment_link_id');
    expect((await page(made.id)).body).toContain('Send 0.02 ETH');
    expect((await fixture.told(made.id)).at(-1)).toMatchObject({
      kind: 'invoice.asset_chosen',
      payload: { version: 2, data: { ...chosen, asset: { symbol: 'ETH', usd_rate: '1250' } } },
    });
    expect(
      await fixture.rows('select asset, amount_fiat from asset_choices where invoice_id = $1', [id]),
    ).toEqual([{ asset: 'ETH', amount_fiat: '2500' }]);
    // A second choice changes nothing.
    expect(await choose(made.id, 'asset=USDC_ERC20')).toMatchObject({ status: 303 });
    expect(await read()).toStrictEqual(chosen);

    await pay(chosen.address.address.toLowerCase(), 2n * DUE);
    await settle();
    expect(await read()).toMatchObject({ status: 'paid', paid_amount: '0.02' });
    expect(await kinds()).toEqual([
      ...['invoice.created', 'invoice.asset_chosen', 'invoice.confirmed', 'deposit.settled', 'invoice.paid'],
    ]);
    const versions = (await fixture.told(made.id)).flatMap(({ payload }) => payload.version ?? []);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(versions.length);
    expect((await shop.get('/api/invoices?status=paid')).body.data).toMatchObject([{ id }]);
  });

  it('is in no file of invoices before the choice, and nothing of it can be refunded', async () => {
    const { shop, id } = await unchosen({ external_id: 'o-2' });
    const rows = async () =>
      String((await shop.get('/api/invoices?format=csv')).body)
        .split('\r\n')
        .filter((line) => line.includes(id));
    const refundable = () => describeInvoice(ports, { invoice_id: id });
    expect([await rows(), await refundable()]).toEqual([[], { invoice: null }]);
    await choose(id);
    expect(await rows()).toHaveLength(1);
    expect(await refundable()).toMatchObject({ invoice: { asset: 'ETH', paid_amount: '0' } });
  });

  it.each([
    [{ asset: 'ETH', assets: ['ETH'] }, 'assets', 'The assets field cannot be given together with asset.'],
    [{ assets: [] }, 'assets', 'The assets must have at least 1 items.'],
    [{ assets: 'ETH' }, 'assets', 'The assets must be an array.'],
    [{ assets: ['ETH', 'BTC'] }, 'assets.1', 'The selected assets.1 is invalid.'],
    [{ assets: ['ETH', 'ETH'] }, 'assets.1', 'The assets.1 field has a duplicate value.'],
    [{}, 'asset', 'The asset field is required.'],
  ])('422: %j', async (order, field, message) => {
    const { status, body } = await fixture.merchant().post('/api/invoices', { amount: 25, ...order });
    expect([status, body.errors]).toEqual([422, { [field]: [message] }]);
  });

  it('gives the stored answer again for the same Idempotency-Key', async () => {
    const shop = fixture.merchant();
    const key = { 'Idempotency-Key': 'k' };
    const order = { amount: 25, assets: ['USDC_ERC20'] };
    const answers = await Promise.all([1, 2, 3].map(() => shop.post('/api/invoices', order, key)));
    const first = answers[0]?.body;
    await choose(first.data.id, 'asset=USDC_ERC20');
    for (const { body } of [...answers, await shop.post('/api/invoices', order, key)]) {
      expect(body).toStrictEqual(first);
    }
    expect((await shop.get('/api/invoices')).body.meta.total).toBe(1);
  });

  it('says which currency cannot be used now, offers the others and writes nothing', async () => {
    const { made, read, kinds } = await unchosen();
    const quote = fixture.quotes.get('ETH') as Any;
    fixture.quotes.set('ETH', { ...quote, active: false });
    const answer = await choose(made.id);
    expect(answer.status).toBe(503);
    expect(answer.body).toContain('This currency cannot be used at the moment.');
    expect(answer.body).toContain('value="USDC_ERC20"');
    expect(answer.body).not.toContain('value="ETH"');
    // A reload would ask for this address by GET.
    expect(answer.body).not.toContain('http-equiv="refresh"');
    fixture.quotes.set('ETH', quote);
    fixture.board.stale = true;
    expect(await choose(made.id)).toMatchObject({
      status: 503,
      body: expect.stringContaining('No currency can be used at the moment.'),
    });
    fixture.board.stale = false;
    for (const body of ['asset=BTC', '', 'asset=', 'asset=ETH&x=1', '{"asset":"ETH"}', '%00=%ff']) {
      expect(await choose(made.id, body)).toMatchObject({
        status: 422,
        body: expect.stringContaining('Please choose one of these currencies.'),
      });
    }
    expect(await read()).toStrictEqual(made);
    expect(await kinds()).toEqual(['invoice.created']);
    const redirected = await pageAt(`/pay/${made.id}/choose`);
    expect(redirected).toMatchObject({ status: 303, headers: { location: `/pay/${made.id}` } });
    expect(await choose(`inv_${'0'.repeat(36)}`)).toMatchObject({ status: 404 });
    expect(await choose(made.id, `asset=${'x'.repeat(5_000)}`)).toMatchObject({
      status: 413,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    });
  });

  it('is chosen once when two replicas and many tabs choose at the same moment', async () => {
    const other = await fixture.replica();
    const { made, read, kinds } = await unchosen();
    let taken = 0;
    for (const { addresses } of [...ports.chains.values(), ...other.ports.chains.values()]) {
      const { take } = addresses;
      addresses.take = () => {
        taken += 1;
        return take();
      };
    }
    const tabs = Array.from({ length: 20 }, (_, i) =>
      choose(made.id, i < 10 ? 'asset=ETH' : 'asset=USDC_ERC20', i % 2 === 0 ? other.port : undefined),
    );
    expect(new Set((await Promise.all(tabs)).map(({ status }) => status))).toEqual(new Set([303]));
    // Each replica takes one address at most, however many choose there.
    expect(taken).toBeLessThanOrEqual(2);
    expect(await kinds()).toEqual(['invoice.created', 'invoice.asset_chosen']);
    const [{ n }] = await fixture.rows('select count(*)::int as n from addresses where invoice_id = $1', [
      made.id,
    ]);
    expect(n).toBe(1);
    expect(await read()).toMatchObject({ id: made.id, status: 'pending', payments: [] });
    expect(await fixture.rows('select 1 from unchosen_invoices where id = $1', [made.id])).toEqual([]);
  });

  /** Ports whose address pool lets something happen between the decision and the transaction. */
  function duringAddress(happen: () => Promise<unknown>): Ports {
    const chains = new Map(
      [...ports.chains].map(([chain, watched]) => {
        const take = async () => {
          await happen();
          return await watched.addresses.take();
        };
        return [chain, { ...watched, addresses: { ...watched.addresses, take } }];
      }),
    );
    return { ...ports, chains };
  }

  const expire = async () => {
    fixture.pass(2 * MINUTE);
    await expireUnchosen(ports);
  };

  it.each([
    ['it expires', expire, null],
    ['its time ends', async () => fixture.pass(2 * MINUTE), null],
    ['too little of its time is left', async () => fixture.pass(MINUTE / 2), null],
    ['the shop cancels it', undefined, 'cancelled'],
  ])('is not chosen any more when %s while an address is taken', async (_, end, how) => {
    const { shop, made, id, kinds, read } = await unchosen({ expires_in: 1 });
    const ends = end ?? (() => shop.post(`/api/invoices/${made.id}/cancel`, {}));
    const chosen = await chooseAsset(duringAddress(ends), { id, text: 'ETH', requestId: 'req_1' });
    expect(chosen).toEqual({ ok: true, value: false });
    await expire();
    expect(await kinds()).toEqual(['invoice.created', 'invoice.expired']);
    const ended = await read();
    expect(ended).toMatchObject({ status: 'expired', asset: null, address: null, usd_rate: null });
    expect(ended.cancelled_at === null).toBe(how === null);
    expect((await fixture.told(made.id)).at(-1)?.payload).toMatchObject({ version: 2, data: ended });
    expect(await choose(made.id)).toMatchObject({ status: 303 });
    expect((await page(made.id)).body).toContain(
      how === null ? 'The time to pay is over.' : 'The shop has cancelled',
    );
    expect((await page(made.id)).body).not.toContain('<form');
  });

  it('is chosen or expired when both happen at the same moment, never both', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => unchosen({ expires_in: 1 })));
    fixture.pass(MINUTE / 2 - 1);
    // Every choice read the clock in time, the worker after the end.
    const before = {
      ...ports,
      clock: {
        now: (
          (at) => () =>
            at
        )(fixture.clock.now()),
      },
    };
    fixture.pass(MINUTE / 2 + 1);
    await Promise.all([
      ...made.map(({ id }) => chooseAsset(before, { id, text: 'ETH', requestId: 'req_1' })),
      expireUnchosen(ports),
      expireUnchosen(ports),
    ]);
    for (const { kinds, read } of made) {
      const { status, asset } = await read();
      expect(await kinds()).toEqual([
        'invoice.created',
        status === 'expired' ? 'invoice.expired' : 'invoice.asset_chosen',
      ]);
      expect(asset === null).toBe(status === 'expired');
    }
  });

  it('is cancelled before the choice, once, and by the rules of every invoice afterwards', async () => {
    const { shop, made, kinds } = await unchosen();
    const cancel = (id: string) => shop.post(`/api/invoices/${id}/cancel`, {});
    const first = await cancel(made.id);
    expect(first).toMatchObject({ status: 200, body: { data: { status: 'expired', asset: null } } });
    fixture.pass(1);
    expect((await cancel(made.id)).body).toStrictEqual(first.body);
    expect(await kinds()).toEqual(['invoice.created', 'invoice.expired']);
    expect(await fixture.merchant().post(`/api/invoices/${made.id}/cancel`, {})).toMatchObject({
      status: 403,
    });
    expect(await fixture.merchant().get(`/api/invoices/${made.id}`)).toMatchObject({ status: 403 });

    const late = await unchosen({ expires_in: 1 });
    fixture.pass(2 * MINUTE);
    await expireUnchosen(ports);
    expect(await late.shop.post(`/api/invoices/${late.made.id}/cancel`, {})).toMatchObject({
      status: 400,
      body: { message: 'The invoice has expired, so it cannot be cancelled.' },
    });
    const chosen = await unchosen();
    await choose(chosen.made.id);
    expect(await chosen.shop.post(`/api/invoices/${chosen.made.id}/cancel`, {})).toMatchObject({
      status: 200,
      body: { data: { status: 'expired', asset: { symbol: 'ETH' } } },
    });
  });
});
