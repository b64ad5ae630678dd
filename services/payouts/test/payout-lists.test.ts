import { describe, expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { watchStalled } from '../src/operations/watch-stalled.ts';
import type { PayoutsService } from '../src/service.ts';
import { PUBLIC_URL } from './service-client.ts';
import { order, recipient, requestsSuite } from './service-fixture.ts';

/** What merchants and operators read of payouts. */
const fixture = requestsSuite();

describe('GET /api/payouts', () => {
  const payouts = (count: number) => fixture.payouts(fixture.shop, count);

  it('shows what the contract lists, newest first, to its account alone', async () => {
    const [older, newer] = await payouts(2);
    const { status, body } = await fixture.shop.get('/api/payouts');
    expect(status).toBe(200);
    expect(body.data.map((one: { id: number }) => one.id)).toEqual([newer, older]);
    expect((await fixture.newClient().get('/api/payouts')).body.data).toEqual([]);
    expect(body.data[1]).toEqual({
      id: older,
      type: 'payout',
      amount: '1',
      tx_hash: null,
      to_address: recipient,
      status: 'pending',
      failed_reason: '',
      approval: null,
      cancel_requested_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      completed_at: null,
      failed_at: null,
      asset: { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 },
      network_fee: '0.0005',
      total: '1.0005',
      usd_rate: '2500',
      usd_value: '2500',
      external_id: null,
      metadata: {},
      deposit_id: null,
      batch_id: null,
      automatic: false,
      refund_id: null,
      invoice_id: null,
    });
    expect(body.meta).toMatchObject({
      current_page: 1,
      per_page: 10,
      total: 2,
      path: `${PUBLIC_URL}/api/payouts`,
    });
  });

  it('is paginated', async () => {
    const ids = (await payouts(5)).reverse();
    const page = async (query: string) => (await fixture.shop.get(`/api/payouts?${query}`)).body;
    const second = await page('perPage=2&page=2');
    expect(second.data.map((one: { id: number }) => one.id)).toEqual(ids.slice(2, 4));
    expect(second.meta).toMatchObject({ from: 3, to: 4, last_page: 3, total: 5 });
    expect(second.links.next).toBe(`${PUBLIC_URL}/api/payouts?perPage=2&page=3`);
    expect((await page('perPage=2&page=9')).data).toEqual([]);
    expect((await page('page=x')).data).toHaveLength(5);
  });

  it('counts a long list no further than 10,000, and links its next page beyond', async () => {
    await fixture.db.rows(
      `insert into payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status,
         failed_reason)
       select n, n, $1, 'ETH', 1, 1, $2, 1, 'failed', 'So.' from generate_series(900000001, 900010005) as n`,
      [fixture.shop.account, recipient.toLowerCase()],
    );
    const page = async (number: number) => (await fixture.shop.get(`/api/payouts?page=${number}`)).body;
    expect((await page(1)).meta).toMatchObject({ total: 10_000, last_page: 1_000 });
    const beyond = await page(1_000);
    expect(beyond.meta).toMatchObject({ total: 10_001, last_page: 1_001 });
    expect(beyond.links.next).toBe(`${PUBLIC_URL}/api/payouts?page=1001`);
    const last = await page(1_001);
    expect(last.meta).toMatchObject({ from: 10_001, to: 10_005, total: 10_005, last_page: 1_001 });
    expect(last.links.next).toBeNull();
    expect((await page(1_002)).data).toEqual([]);
  });

  it('is filtered by status, asset and time', async () => {
    const ids = await payouts(3);
    await fixture.db.rows(`update payouts set status = 'failed', failed_reason = 'So.' where id = $1`, [
      ids[0],
    ]);
    await fixture.db.rows(
      `update payouts set status = 'mined', tx_hash = '0x1', completed_at = now(), asset = 'USDC_ERC20' where id = $1`,
      [ids[1]],
    );
    const found = async (query: string) =>
      (await fixture.shop.get(`/api/payouts?${query}`)).body.data.map((one: { id: number }) => one.id);
    expect(await found('status=failed')).toEqual([ids[0]]);
    expect(await found('status=mined')).toEqual([ids[1]]);
    expect(await found('status=pending')).toEqual([ids[2]]);
    expect(await found('asset=USDC_ERC20')).toEqual([ids[1]]);
    expect(await found('asset=ETH&status=mined')).toEqual([]);
    const { body } = await fixture.shop.get(`/api/payouts/${ids[1]}`);
    expect(body).toMatchObject({ status: 'mined', tx_hash: '0x1', completed_at: expect.any(String) });
    const at = encodeURIComponent(body.created_at);
    expect(await found(`created_from=${at}&created_to=${at}`)).toContain(ids[1]);
    expect(await found(`created_from=${at}`)).not.toContain(ids[0]);
    expect(await found('created_to=2020-01-01')).toEqual([]);
  });

  it('is searched by reference, transaction and recipient', async () => {
    const [other] = await payouts(1);
    const id = (await fixture.shop.post({ ...order, external_id: 'wage 7' })).body.data.id;
    const hash = `0x${'ab'.repeat(32)}`;
    await fixture.db.rows('update payouts set tx_hash = $1 where id = $2', [hash, id]);
    const found = async (query: Record<string, string>) =>
      (await fixture.shop.get(`/api/payouts?${new URLSearchParams(query)}`)).body.data.map(
        (one: { id: number }) => one.id,
      );
    expect(await found({ external_id: 'wage 7' })).toEqual([id]);
    expect(await found({ external_id: 'wage' })).toEqual([]);
    expect(await found({ tx_hash: hash.replace(/[a-f]/g, (letter) => letter.toUpperCase()) })).toEqual([id]);
    expect(await found({ to_address: recipient })).toEqual([id, other]);
    expect(await found({ to_address: recipient.toLowerCase(), external_id: 'wage 7' })).toEqual([id]);
    expect(await found({ to_address: 'nowhere' })).toEqual([]);
  });

  it('shows a payout of an older release without the worth that nobody stored', async () => {
    const [id] = await payouts(1);
    await fixture.db.rows('update payouts set usd_rate = null where id = $1', [id]);
    const { body } = await fixture.shop.get(`/api/payouts/${id}`);
    expect(body).toMatchObject({ usd_rate: null, usd_value: null, metadata: {}, total: '1.0005' });
  });

  it.each([
    ['perPage=101', { perPage: ['The per page must not be greater than 100.'] }],
    ['perPage=0', { perPage: ['The per page must be at least 1.'] }],
    [
      'status=done&asset=DOGE',
      { status: ['The selected status is invalid.'], asset: ['The selected asset is invalid.'] },
    ],
    ['created_from=yesterday', { created_from: ['The created from is not a valid date.'] }],
  ])('answers 422 to %s', async (query, errors) => {
    const { status, body } = await fixture.shop.get(`/api/payouts?${query}`);
    expect([status, body.errors]).toEqual([422, errors]);
  });
});

describe('GET /api/payouts/{id}', () => {
  it('shows one payout as the list does, bare', async () => {
    const { body } = await fixture.shop.post(order);
    const { body: listed } = await fixture.shop.get('/api/payouts');
    const { status, body: shown } = await fixture.shop.get(`/api/payouts/${body.data.id}`);
    expect([status, shown]).toEqual([200, listed.data[0]]);
  });

  it('answers 403 for another account’s', async () => {
    const { body } = await fixture.shop.post(order);
    const { status, body: refused } = await fixture.newClient().get(`/api/payouts/${body.data.id}`);
    expect([status, refused]).toEqual([403, { message: 'This action is unauthorized.' }]);
  });

  it.each([
    '1',
    '9007199254740991',
    '9999999999999999',
    '99999999999999999999',
    '0',
    '-1',
    '1.5',
    'abc',
    '%00',
  ])('answers 404 for %s', async (id) => {
    const { status, body } = await fixture.shop.get(`/api/payouts/${id}`);
    expect([status, body]).toMatchObject([404, { message: 'No query results for model [Payout].' }]);
  });
});

const readiness = async ({ port }: PayoutsService) => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: answer.status, body: await answer.json() };
};
const stalled = async ({ port }: PayoutsService) =>
  /^quittance_payouts_stalled\{chain="ethereum"\} (\d+)$/m.exec(
    await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
  )?.[1];
const ready = { status: 200, body: { ready: true, waits_for: [] } };

/** No node answers, so no payout makes progress. */
it('a payout without progress shows in /readyz and in a metric until it ends', async () => {
  const end = `update payouts set status = 'failed', failed_reason = 'So.' where status = 'reserved'`;
  // Those of the other tests.
  await fixture.db.rows(end);
  await fixture.shop.post(order);
  const pendingFor = (minutes: number) =>
    fixture.db.rows(
      `update payouts set created_at = now() - $1::int * interval '1 minute' where status = 'reserved'`,
      [minutes],
    );

  await pendingFor(29);
  await watchStalled(fixture.service.ports);
  expect(await stalled(fixture.service)).toBe('0');
  expect(await readiness(fixture.service)).toEqual(ready);

  await pendingFor(31);
  const service = await fixture.start({}, { workers: true });
  const without = [expect.stringMatching(/^progress of 1 payouts on ethereum, the oldest of /)];
  await eventually(async () =>
    expect(await readiness(service)).toMatchObject({ status: 200, body: { ready: true, without } }),
  );
  expect(await stalled(service)).toBe('1');

  await fixture.db.rows(end);
  await eventually(async () => {
    await watchStalled(service.ports);
    expect(await readiness(service)).toEqual(ready);
  });
});
