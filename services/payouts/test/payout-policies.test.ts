import { describe, expect, it } from '@jest/globals';
import { policyReasons } from '../src/domain/policy.ts';
import type { Client } from './service-client.ts';
import { order, recipient, requestsSuite } from './service-fixture.ts';

/** What an account allows of its payouts. */
const fixture = requestsSuite();

const POLICY = '/api/payout-policy';
const BOOK = '/api/address-book';
const put = (policy: object, client = fixture.shop) => client.put(POLICY, policy);
const limit = (limits: object, policy: object = {}) =>
  put({ delay_hours: 0, limits: [{ asset: 'ETH', ...limits }], ...policy });
const add = (address = recipient, client = fixture.shop) =>
  client.post({ chain: 'ethereum', address, label: 'Treasury' }, {}, BOOK);
const read = async (id: unknown, client: Client = fixture.shop) =>
  (await client.get(`/api/payouts/${id}`)).body;
const pay = async (amount: number | string = 1.5, client: Client = fixture.shop) => {
  const { status, body } = await client.post({ ...order, amount });
  expect(status).toBe(201);
  return await read(body.data.id, client);
};
const say = (id: unknown, what: 'approve' | 'reject', client: Client) =>
  client.post('', {}, `/api/payouts/${id}/${what}`);
const failed = (reason: string) => ({ status: 'failed', failed_reason: reason, approval: null });
const age = (table: string, column: string, hours: number) =>
  fixture.db.rows(
    `update ${table} set ${column} = ${column} - $2 * interval '1 hour' where account_id = $1`,
    [fixture.shop.account, hours],
  );

describe('the policy of an account', () => {
  it('has no limits until one is given, and belongs to its account', async () => {
    const none = { type: 'payout_policy', allow_list: false, delay_hours: 0, limits: [], next: null };
    expect((await fixture.shop.get(POLICY)).body).toEqual({ ...none, updated_at: null });
    const { status, body } = await put({
      allow_list: true,
      limits: [{ asset: 'ETH', per_payout: 2, per_24h: '5', approval_above: 0, approvals: 2 }],
    });
    const limits = { asset: 'ETH', per_payout: '2', per_24h: '5', approval_above: '0', approvals: 2 };
    const saved = { ...none, allow_list: true, delay_hours: 24, limits: [limits] };
    expect([status, body.data]).toEqual([200, { ...saved, updated_at: expect.any(String) }]);
    expect((await fixture.shop.get(POLICY)).body).toEqual(body.data);
    expect((await fixture.newClient().get(POLICY)).body).toEqual({ ...none, updated_at: null });
  });

  it('that allows more takes effect after the delay of the former one, and at once where it forbids more', async () => {
    await limit({ per_payout: 1, per_24h: 9 }, { delay_hours: 24 });
    const { body } = await limit({ per_payout: 5, per_24h: 2 }, { delay_hours: 0 });
    expect(body.data.limits).toMatchObject([{ per_payout: '1', per_24h: '2' }]);
    expect(body.data.next.limits).toMatchObject([{ per_payout: '5', per_24h: '2' }]);
    expect(body.data.delay_hours).toBe(24);
    expect(Date.parse(body.data.next.takes_effect_at) - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(await pay(1.5)).toMatchObject(failed(policyReasons.above_payout_limit));
    await age('payout_policies', 'next_at', 25);
    expect((await fixture.shop.get(POLICY)).body).toMatchObject({ delay_hours: 0, next: null });
    expect(await pay(1.5)).toMatchObject({ status: 'pending', approval: null });
  });

  it('is refused with the errors of all of its fields', async () => {
    const { status, body } = await put({
      delay_hours: 721,
      limits: [
        { asset: 'ETH', per_payout: '1.0000000000000000001', per_24h: -1, extra: 1 },
        { asset: 'DOGE', approvals: 3 },
        { asset: 'BTC', approvals: 1 },
        { asset: 'BTC' },
      ],
      more: true,
    });
    expect(status).toBe(422);
    expect(Object.keys(body.errors).sort()).toEqual([
      ...['delay_hours', 'limits.0.extra', 'limits.0.per_24h', 'limits.0.per_payout', 'limits.1.approvals'],
      ...['limits.1.asset', 'limits.2.approval_above', 'more'],
    ]);
    expect((await put({ limits: {} })).body.errors).toEqual({ limits: ['The limits must be an array.'] });
    expect((await put({ limits: [{ asset: 'ETH' }, { asset: 'ETH' }] })).status).toBe(422);
    expect((await fixture.shop.get(POLICY)).body.updated_at).toBeNull();
  });
});

describe('the address book', () => {
  it('is added to, listed and deleted from, and one address is there once', async () => {
    const { status, body } = await add();
    const entry = {
      id: expect.stringMatching(/^adr_/),
      type: 'address',
      chain: 'ethereum',
      label: 'Treasury',
    };
    expect([status, body.data]).toEqual([201, { ...entry, ...body.data, address: recipient }]);
    const again = await fixture.shop.post(
      { chain: 'ethereum', address: recipient.toLowerCase(), label: 'New' },
      ...[{}, BOOK],
    );
    expect([again.status, again.body.data]).toEqual([200, { ...body.data, label: 'New' }]);
    expect((await fixture.shop.get(BOOK)).body).toMatchObject({
      data: [again.body.data],
      meta: { total: 1 },
    });
    const other = fixture.newClient();
    expect((await other.get(BOOK)).body.data).toEqual([]);
    expect((await other.delete(`${BOOK}/${body.data.id}`)).status).toBe(403);
    expect((await fixture.shop.delete(`${BOOK}/${body.data.id}`)).status).toBe(200);
    expect((await fixture.shop.delete(`${BOOK}/${body.data.id}`)).status).toBe(404);
    const wrong = await fixture.shop.post({ chain: 'bitcoin', address: '', extra: 1 }, {}, BOOK);
    expect(Object.keys(wrong.body.errors).sort()).toEqual(['address', 'extra', 'label']);
    expect((await add('0x1')).body.errors).toEqual({ address: ['The selected address is invalid.'] });
  });

  it('lets payouts through to its addresses alone, to new ones after the delay', async () => {
    await put({ allow_list: true, delay_hours: 24 });
    expect(await pay()).toMatchObject(failed(policyReasons.not_in_address_book));
    const { body } = await add();
    expect(Date.parse(body.data.usable_at) - Date.parse(body.data.created_at)).toBeGreaterThan(86_000_000);
    expect(await pay()).toMatchObject(failed(policyReasons.address_too_new));
    await age('payout_addresses', 'usable_at', 24);
    await add();
    expect(await pay()).toMatchObject({ status: 'pending' });
    await fixture.shop.delete(`${BOOK}/${body.data.id}`);
    expect(await pay()).toMatchObject(failed(policyReasons.not_in_address_book));
  });
});

describe('a payout that the policy refuses', () => {
  it('is failed from the beginning with its reason, and its hold is released', async () => {
    await limit({ per_payout: 1 });
    const key = { 'idempotency-key': 'refused by the policy' };
    const created = await fixture.shop.post(order, key);
    const again = await fixture.shop.post(order, key);
    expect([created.status, again.body]).toEqual([201, created.body]);
    const [payout] = await fixture.rowsOf(fixture.shop);
    expect(await fixture.published(payout?.id ?? ('0' as never))).toEqual([
      ...['payout.created', 'hold.release', 'payout.failed'],
    ]);
    expect(await read(created.body.data.id)).toMatchObject({
      ...failed(policyReasons.above_payout_limit),
      failed_at: expect.any(String),
    });
    expect(fixture.ledger.asked).toHaveLength(1);
  });

  it('of the whole balance is measured by what the ledger has held', async () => {
    await limit({ per_payout: 1 });
    const hold = (ether: bigint) => () =>
      ({ outcome: 'placed', amount: (ether * 10n ** 18n).toString() }) as const;
    fixture.ledger.reply = hold(2n);
    expect(await pay('max')).toMatchObject(failed(policyReasons.above_payout_limit));
    fixture.ledger.reply = hold(1n);
    expect(await pay('max')).toMatchObject({ status: 'pending', amount: '1' });
  });

  it('does not count, and neither does one that is older than 24 hours', async () => {
    await limit({ per_24h: 3 });
    expect(await pay(2)).toMatchObject({ status: 'pending' });
    expect(await pay(2)).toMatchObject(failed(policyReasons.above_day_limit));
    expect(await pay(1)).toMatchObject({ status: 'pending' });
    await age('payouts', 'created_at', 25);
    expect(await pay(3)).toMatchObject({ status: 'pending' });
    await fixture.db.rows(
      `update payouts set status = 'failed', failed_reason = 'So.' where account_id = $1`,
      [fixture.shop.account],
    );
    expect(await pay(3)).toMatchObject({ status: 'pending' });
  });

  it('is the one that would be above the limit of 24 hours, however many come at once to two replicas', async () => {
    const other = await fixture.start();
    for (const [round, most] of [1, 1, 1, 5].entries()) {
      fixture.shop = fixture.newClient();
      await limit({ per_24h: most });
      const paid = await Promise.all(Array.from({ length: 16 }, () => pay(1)));
      const sum = paid.filter(({ status }) => status === 'pending').length;
      expect([round, sum, paid.length - sum]).toEqual([round, most, 16 - most]);
      const reasons = new Set(paid.map((payout) => payout.failed_reason));
      expect(reasons).toEqual(new Set(['', policyReasons.above_day_limit]));
    }
    await other.stop();
  });
});

describe('a payout that needs approvals', () => {
  it('waits, is listed, and is reserved when enough other tokens have approved it', async () => {
    await limit({ approval_above: 1, approvals: 2 });
    expect(await pay(1)).toMatchObject({ approval: null });
    const payout = await pay();
    const { token } = fixture.shop;
    expect(payout).toMatchObject({
      ...{ status: 'pending', failed_reason: '' },
      approval: { status: 'waiting', needed: 2, given: [], requested_by: token },
    });
    expect((await fixture.shop.get('/api/payouts?approval=waiting')).body.data).toEqual([payout]);
    expect((await fixture.shop.get('/api/payouts?approval=waiting&status=failed')).body.data).toEqual([]);
    expect((await fixture.shop.get('/api/payouts?status=pending')).body.meta.total).toBe(2);

    const [anna, ben] = [fixture.shop.another(), fixture.shop.another()];
    const own = await say(payout.id, 'approve', fixture.shop);
    expect([own.status, own.body.code]).toEqual([409, 'conflict']);
    const first = await say(payout.id, 'approve', anna);
    const given = [{ token_id: anna.token, person_id: null, decision: 'approved', at: expect.any(String) }];
    expect([first.status, first.body.data.approval]).toMatchObject([200, { status: 'waiting', given }]);
    expect((await say(payout.id, 'approve', anna)).body).toEqual(first.body);
    const last = await say(payout.id, 'approve', ben);
    expect(last.body.data).toMatchObject({ status: 'pending', approval: { status: 'approved' } });
    expect((await say(payout.id, 'approve', ben)).body).toEqual(last.body);
    expect((await say(payout.id, 'reject', anna)).status).toBe(409);
    expect((await fixture.rowsOf(fixture.shop)).map(({ status }) => status)).toEqual([
      'reserved',
      'reserved',
    ]);
  });

  it('is rejected by one token, and counts for the limit of 24 hours while it waits', async () => {
    await limit({ approval_above: 0, per_24h: 2 });
    const payout = await pay();
    expect(await pay()).toMatchObject(failed(policyReasons.above_day_limit));
    const rejected = await say(payout.id, 'reject', fixture.shop.another());
    expect(rejected.body.data.approval).toMatchObject({ status: 'rejected' });
    expect((await say(payout.id, 'approve', fixture.shop.another())).status).toBe(409);
  });

  it('is not approved by tokens of other accounts, and one that needs none not at all', async () => {
    const plain = await pay();
    await limit({ approval_above: 0 });
    const payout = await pay();
    expect((await say(payout.id, 'approve', fixture.newClient())).status).toBe(403);
    expect((await say('7', 'approve', fixture.shop)).status).toBe(404);
    expect((await say(plain.id, 'approve', fixture.shop.another())).body.code).toBe('conflict');
    const unnamed = fixture.shop.another();
    Object.assign(unnamed, { token: undefined });
    expect((await say(payout.id, 'approve', unnamed)).status).toBe(503);
    expect(await read(payout.id)).toMatchObject({ approval: { status: 'waiting', given: [] } });
  });
});
