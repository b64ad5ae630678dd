import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Db, openDb, type Statement } from '@quittance/shared/db';
import { newPayoutId, type PayoutId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { voidStaleRequests } from '../src/operations/request-payout.ts';
import type { PayoutsService } from '../src/service.ts';
import { insertRequested } from '../src/store/payouts.ts';
import { type ScriptedLedger, scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, PUBLIC_URL, startService, TestBoard } from './service-client.ts';

type Nats = Awaited<ReturnType<typeof testNats>>;

let database: TestDatabase;
let nats: Nats;
let ledger: ScriptedLedger;
let service: PayoutsService;
let db: Db;
let board: TestBoard;
let shop: Client;

beforeAll(async () => {
  [database, nats] = await Promise.all([testDatabase(), testNats()]);
  ledger = await scriptedLedger(nats.url);
  board = new TestBoard();
  service = await startService(environment(database.urlOf('payouts'), nats.url), {
    quotes: board,
  });
  db = openDb({
    url: database.urlOf('payouts'),
    schema: 'payouts',
    pool: 2,
    logger: createLogger('test', 'silent'),
  });
});
beforeEach(() => {
  ledger.reply = () => ({ outcome: 'placed' });
  ledger.asked.length = 0;
  board.isFresh = true;
  shop = new Client(() => service);
});
afterEach(async () => {
  await eventually(async () =>
    expect(await db.rows('select 1 from outbox where sent_at is null')).toEqual([]),
  );
});
afterAll(async () => {
  await service?.stop();
  await ledger?.close();
  await db?.close();
  await nats?.stop();
  await database?.drop();
});

const to = '0x52908400098527886E0F7030069857D2E4169EE7';
const order = { asset: 'ETH', amount: 1.5, address: to };

const rowsOf = (client: Client) =>
  db.rows<{ id: PayoutId; status: string }>(
    'select id, status from payouts where account_id = $1 order by seq',
    [client.account],
  );
const kindsOf = async (id: PayoutId) =>
  (
    await db.rows<{ kind: string }>(
      `select kind from outbox where payload->>'payout_id' = $1 or payload->>'resource_id' = $1 order by seq`,
      [id],
    )
  ).map((row) => row.kind);

describe('POST /api/payouts', () => {
  it('answers 201 with the id alone when the ledger has placed the hold', async () => {
    const { status, body } = await shop.post(order);
    expect(status).toBe(201);
    expect(body).toEqual({ message: expect.any(String), data: { id: body.data.id } });
    expect(typeof body.data.id).toBe('number');
    expect(body.data.id).toBeLessThan(2 ** 53);
    expect(ledger.asked).toEqual([
      {
        request_id: expect.stringMatching(/^req_/),
        payout_id: String(body.data.id),
        account_id: shop.account,
        asset: 'ETH',
        amount: '1500000000000000000',
        network_fee: '500000000000000',
        deposit_id: null,
      },
    ]);
    expect(await rowsOf(shop)).toEqual([{ id: String(body.data.id), status: 'reserved' }]);
    const told = await db.one<{ payload: unknown }>(
      `select payload from outbox where payload->>'resource_id' = $1`,
      [body.data.id],
    );
    const { body: shown } = await shop.get(`/api/payouts/${body.data.id}`);
    expect(told.payload).toEqual({
      account_id: shop.account,
      resource_id: String(body.data.id),
      version: 1,
      data: shown,
    });
  });

  it('keeps an amount that no double could hold', async () => {
    const { body } = await shop.post(`{"asset":"ETH","amount":1.000000000000000001,"address":"${to}"}`);
    const { body: shown } = await shop.get(`/api/payouts/${body.data.id}`);
    expect(shown.amount).toBe('1.000000000000000001');
  });

  it('answers 400 when the balance is too small, and there is no payout', async () => {
    ledger.reply = () => ({ outcome: 'refused' });
    const { status, body } = await shop.post(order);
    expect([status, body]).toEqual([400, { message: 'Insufficient balance' }]);
    expect(await rowsOf(shop)).toMatchObject([{ status: 'refused' }]);
    expect((await shop.get('/api/payouts')).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  it.each([
    [
      '{',
      {
        asset: ['The asset field is required.'],
        amount: ['The amount field is required.'],
        address: ['The address field is required.'],
      },
    ],
    ['{"asset":"BTC","amount":1,"address":"x"}', { asset: ['The selected asset is invalid.'] }],
    [
      '{"asset":"ETH","amount":0,"address":"0x52908400098527886e0F7030069857D2E4169EE7"}',
      { amount: ['The amount must be at least 0.00001.'], address: ['The selected address is invalid.'] },
    ],
  ])('answers 422 to %s, and asks nobody', async (text, errors) => {
    const { status, body } = await shop.post(text);
    expect([status, body]).toEqual([422, { message: 'The given data was invalid.', errors }]);
    expect(ledger.asked).toEqual([]);
    expect(await rowsOf(shop)).toEqual([]);
  });

  it('answers 503 without a fresh quote', async () => {
    board.isFresh = false;
    const { status, headers, body } = await shop.post(order);
    expect([status, body]).toEqual([503, { message: 'Service Unavailable' }]);
    expect(headers.get('retry-after')).toBe('2');
    expect(await rowsOf(shop)).toEqual([]);
  });

  it('answers 503 when the ledger does not answer, and releases a late hold', async () => {
    ledger.reply = () => ({
      outcome: 'placed',
      before: () => new Promise((resolve) => setTimeout(resolve, 2_300)),
    });
    const { status, headers } = await shop.post(order);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('2');
    const [{ id, status: inside } = { id: '' as PayoutId, status: '' }] = await rowsOf(shop);
    expect(inside).toBe('voided');
    expect(await kindsOf(id)).toEqual(['hold.void']);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await rowsOf(shop)).toEqual([{ id, status: 'voided' }]);
    expect((await shop.get(`/api/payouts/${id}`)).status).toBe(404);
  });

  it('answers 503 when the ledger never answers, or answers that the hold is void', async () => {
    ledger.reply = ({ amount }) => (amount === '1000000000000000000' ? {} : { outcome: 'voided' });
    const answers = await Promise.all([
      shop.post({ ...order, amount: 1 }),
      shop.post({ ...order, amount: 2 }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([503, 503]);
    expect(await rowsOf(shop)).toMatchObject([{ status: 'voided' }, { status: 'voided' }]);
  });

  it('handles an answer that arrives twice once', async () => {
    ledger.reply = () => ({ outcome: 'placed', times: 2 });
    expect((await shop.post(order)).status).toBe(201);
    expect(await rowsOf(shop)).toMatchObject([{ status: 'reserved' }]);
  });

  it('answers 503 when the request was voided before the ledger answered', async () => {
    ledger.reply = () => ({ outcome: 'placed', before: () => voidStaleRequests(service.ports, 0) });
    expect((await shop.post(order)).status).toBe(503);
    const [row] = await rowsOf(shop);
    expect(row?.status).toBe('voided');
    expect(await kindsOf(row?.id as PayoutId)).toEqual(['hold.void']);
  });

  it('voids requests whose process died, and releases their holds', async () => {
    const id = newPayoutId(service.ports.random);
    const payout = {
      asset: 'ETH',
      amount: units(5n),
      networkFee: units(1n),
      address: to.toLowerCase(),
    } as const;
    const terms = { minConfirmations: 3, returnsDeposit: null };
    await insertRequested(db, { ...payout, ...terms, id, account: shop.account });
    expect(await voidStaleRequests(service.ports)).toBe(0);
    await db.rows(`update payouts set created_at = now() - interval '11 seconds' where id = $1`, [id]);
    expect(await voidStaleRequests(service.ports)).toBe(1);
    expect(await rowsOf(shop)).toEqual([{ id, status: 'voided' }]);
    expect(await kindsOf(id)).toEqual(['hold.void']);
  });

  describe('drawing payout ids', () => {
    let drawn: (size: number) => Uint8Array;
    beforeEach(() => {
      drawn = service.ports.random;
    });
    afterEach(() => {
      service.ports.random = drawn;
    });
    const headers = (key: string | undefined) => (key === undefined ? {} : { 'idempotency-key': key });
    const drawing = (...all: Uint8Array[]) => {
      const left = [...all];
      service.ports.random = (size) => left.shift() ?? drawn(size);
    };

    it.each([undefined, 'taken-id'])(
      'draws another payout id when the drawn one is taken (Idempotency-Key: %s)',
      async (key) => {
        const bytes = drawn(6);
        drawing(bytes, bytes, bytes);
        const first = await shop.post(order, headers(key));
        const second = await shop.post(order, headers(key && `${key}-2`));
        expect([first.status, second.status]).toEqual([201, 201]);
        expect(second.body.data.id).not.toBe(first.body.data.id);
        expect(await rowsOf(shop)).toEqual([
          { id: String(first.body.data.id), status: 'reserved' },
          { id: String(second.body.data.id), status: 'reserved' },
        ]);
      },
    );

    it('asks the ledger for nothing when three drawn payout ids in a row are taken', async () => {
      const bytes = drawn(6);
      drawing(bytes, bytes, bytes, bytes);
      expect((await shop.post(order)).status).toBe(201);
      expect((await shop.post(order)).status).toBe(500);
      expect(ledger.asked).toHaveLength(1);
      expect((await shop.post(order)).status).toBe(201);
    });
  });

  it('answers 401 without an identity that the gateway has signed', async () => {
    const answer = await fetch(`http://127.0.0.1:${service.port}/api/payouts`, { method: 'POST' });
    expect(answer.status).toBe(401);
  });
});

describe('a connection that breaks during the commit', () => {
  /** The service on a database whose answers to one statement are lost, before or after it was carried out. */
  async function withLostAnswers(
    statement: string,
    lose: (call: number) => 'no' | 'before' | 'after',
    test: (client: Client) => Promise<void>,
  ): Promise<void> {
    let calls = 0;
    const real = service.ports.db;
    const flaky: Db = {
      ...real,
      async one<T extends object>(sql: Statement | string, values?: readonly unknown[]): Promise<T> {
        if (typeof sql === 'string' || sql.name !== statement) return real.one<T>(sql, values);
        calls += 1;
        const lost = lose(calls);
        if (lost === 'before') throw new Error('Connection terminated unexpectedly');
        const answer = await real.one<T>(sql, values);
        if (lost === 'after') throw new Error('Connection terminated unexpectedly');
        return answer;
      },
    };
    service.ports.db = flaky;
    try {
      await test(shop);
    } finally {
      service.ports.db = real;
    }
  }

  it('makes the service ask until it knows the result: accepted once, answered 201', async () => {
    await withLostAnswers(
      'payouts_reserve',
      (call) => (call === 1 ? 'after' : 'no'),
      async (client) => {
        const { status, body } = await client.post(order);
        expect(status).toBe(201);
        expect(await rowsOf(client)).toEqual([{ id: String(body.data.id), status: 'reserved' }]);
        expect(await kindsOf(body.data.id)).toEqual(['payout.created']);
      },
    );
  });

  it('and breaks again during the question still leads to 201', async () => {
    await withLostAnswers(
      'payouts_reserve',
      (call) => (call === 1 ? 'after' : 'no'),
      async (client) => {
        const flaky = service.ports.db;
        let looks = 0;
        service.ports.db = {
          ...flaky,
          async maybe<T extends object>(sql: Statement | string, values?: readonly unknown[]) {
            if (typeof sql !== 'string' && sql.name === 'payouts_one' && ++looks === 1) {
              throw new Error('Connection terminated unexpectedly');
            }
            return flaky.maybe<T>(sql, values);
          },
        };
        const { status, body } = await client.post(order);
        expect(looks).toBe(2);
        expect(status).toBe(201);
        expect(await rowsOf(client)).toEqual([{ id: String(body.data.id), status: 'reserved' }]);
      },
    );
  });

  it('before the commit succeeded leads to another commit', async () => {
    await withLostAnswers(
      'payouts_reserve',
      (call) => (call <= 2 ? 'before' : 'no'),
      async (client) => {
        expect((await client.post(order)).status).toBe(201);
        expect(await rowsOf(client)).toMatchObject([{ status: 'reserved' }]);
      },
    );
  });

  it('for long leads to an answer that promises nothing', async () => {
    await withLostAnswers(
      'payouts_reserve',
      () => 'after',
      async (client) => {
        const { status, body } = await client.post(order);
        expect([status, body]).toEqual([500, { message: 'Server Error' }]);
      },
    );
  });
});

describe('Idempotency-Key', () => {
  const withKey = (key: string, body: object | string = order, client = shop) =>
    client.post(body, { 'idempotency-key': key });

  it('used a hundred times at once creates one payout', async () => {
    ledger.reply = () => ({
      outcome: 'placed',
      before: () => new Promise((resolve) => setTimeout(resolve, 50)),
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => withKey('one')));
    const made = answers.filter((answer) => answer.status === 201);
    expect(made.length).toBeGreaterThan(0);
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.body).toEqual(made[0]?.body);
      else expect([answer.status, answer.headers.get('retry-after')]).toEqual([409, '1']);
    }
    expect(await rowsOf(shop)).toHaveLength(1);
    expect(ledger.asked).toHaveLength(1);

    const again = await withKey('one');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect([again.status, again.body]).toEqual([201, made[0]?.body]);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(made[0]?.body));
  });

  it('replays the first answer, also a 400, whatever has changed since', async () => {
    ledger.reply = () => ({ outcome: 'refused' });
    expect((await withKey('poor')).status).toBe(400);
    ledger.reply = () => ({ outcome: 'placed' });
    board.isFresh = false;
    const again = await withKey('poor');
    expect([again.status, again.body]).toEqual([400, { message: 'Insufficient balance' }]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('with another body is refused', async () => {
    await withKey('two');
    const { status, body } = await withKey('two', { ...order, amount: 2 });
    expect(status).toBe(422);
    expect(body.errors).toEqual({
      'Idempotency-Key': ['The Idempotency-Key was used before with another body.'],
    });
    expect(await rowsOf(shop)).toHaveLength(1);
  });

  it('is free again after a 503', async () => {
    ledger.reply = () => ({ outcome: 'voided' });
    expect((await withKey('three')).status).toBe(503);
    ledger.reply = () => ({ outcome: 'placed' });
    const { status, headers } = await withKey('three');
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect(await rowsOf(shop)).toMatchObject([{ status: 'voided' }, { status: 'reserved' }]);
  });

  it('is not taken by an invalid body', async () => {
    expect((await withKey('four', { ...order, amount: 0 })).status).toBe(422);
    expect((await withKey('four')).status).toBe(201);
  });

  it('of another account is a different key', async () => {
    const other = new Client(() => service);
    const [first, second] = [await withKey('five'), await withKey('five', order, other)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.data.id).not.toBe(second.body.data.id);
  });

  it('that is too long is listed with the other errors', async () => {
    const { status, body } = await withKey('k'.repeat(256), { ...order, amount: 0 });
    expect(status).toBe(422);
    expect(Object.keys(body.errors).sort()).toEqual(['Idempotency-Key', 'amount']);
  });
});

describe('GET /api/payouts', () => {
  async function payouts(count: number): Promise<number[]> {
    const ids: number[] = [];
    for (let i = 0; i < count; i++) ids.push((await shop.post({ ...order, amount: i + 1 })).body.data.id);
    return ids;
  }

  it('shows what the contract lists, newest first', async () => {
    const [older, newer] = await payouts(2);
    const { status, body } = await shop.get('/api/payouts');
    expect(status).toBe(200);
    expect(body.data.map((one: { id: number }) => one.id)).toEqual([newer, older]);
    expect(body.data[1]).toEqual({
      id: older,
      type: 'payout',
      amount: '1',
      tx_hash: null,
      to_address: to,
      status: 'pending',
      failed_reason: '',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      completed_at: null,
      asset: { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 },
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
    const page = async (query: string) => (await shop.get(`/api/payouts?${query}`)).body;
    const second = await page('perPage=2&page=2');
    expect(second.data.map((one: { id: number }) => one.id)).toEqual(ids.slice(2, 4));
    expect(second.meta).toMatchObject({ from: 3, to: 4, last_page: 3, total: 5 });
    expect(second.links.next).toBe(`${PUBLIC_URL}/api/payouts?perPage=2&page=3`);
    expect((await page('perPage=2&page=9')).data).toEqual([]);
    expect((await page('page=x')).data).toHaveLength(5);
  });

  it('counts a long list no further than 10,000, and links its next page beyond', async () => {
    await db.rows(
      `insert into payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status,
         failed_reason)
       select n, n, $1, 'ETH', 1, 1, $2, 1, 'failed', 'So.' from generate_series(900000001, 900010005) as n`,
      [shop.account, to.toLowerCase()],
    );
    const page = async (number: number) => (await shop.get(`/api/payouts?page=${number}`)).body;
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
    await db.rows(`update payouts set status = 'failed', failed_reason = 'So.' where id = $1`, [ids[0]]);
    await db.rows(
      `update payouts set status = 'mined', tx_hash = '0x1', completed_at = now(), asset = 'USDC_ERC20' where id = $1`,
      [ids[1]],
    );
    const found = async (query: string) =>
      (await shop.get(`/api/payouts?${query}`)).body.data.map((one: { id: number }) => one.id);
    expect(await found('status=failed')).toEqual([ids[0]]);
    expect(await found('status=mined')).toEqual([ids[1]]);
    expect(await found('status=pending')).toEqual([ids[2]]);
    expect(await found('asset=USDC_ERC20')).toEqual([ids[1]]);
    expect(await found('asset=ETH&status=mined')).toEqual([]);
    const { body } = await shop.get(`/api/payouts/${ids[1]}`);
    expect(body).toMatchObject({ status: 'mined', tx_hash: '0x1', completed_at: expect.any(String) });
    const at = encodeURIComponent(body.created_at);
    expect(await found(`created_from=${at}&created_to=${at}`)).toContain(ids[1]);
    expect(await found(`created_from=${at}`)).not.toContain(ids[0]);
    expect(await found('created_to=2020-01-01')).toEqual([]);
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
    const { status, body } = await shop.get(`/api/payouts?${query}`);
    expect([status, body.errors]).toEqual([422, errors]);
  });

  it('does not show payouts of another account', async () => {
    await payouts(1);
    expect((await new Client(() => service).get('/api/payouts')).body.data).toEqual([]);
  });
});

describe('GET /api/payouts/{id}', () => {
  it('shows one payout as the list does, bare', async () => {
    const { body } = await shop.post(order);
    const { body: listed } = await shop.get('/api/payouts');
    const { status, body: shown } = await shop.get(`/api/payouts/${body.data.id}`);
    expect([status, shown]).toEqual([200, listed.data[0]]);
  });

  it('answers 403 for another account’s', async () => {
    const { body } = await shop.post(order);
    const { status, body: refused } = await new Client(() => service).get(`/api/payouts/${body.data.id}`);
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
    const { status, body } = await shop.get(`/api/payouts/${id}`);
    expect([status, body]).toEqual([404, { message: 'No query results for model [Payout].' }]);
  });

  it('does not show a request that was refused', async () => {
    ledger.reply = () => ({ outcome: 'refused' });
    await shop.post(order);
    const [row] = await rowsOf(shop);
    expect((await shop.get(`/api/payouts/${row?.id}`)).status).toBe(404);
  });
});

describe('NATS', () => {
  it('delivers settled deposits and reversals several times, and each is stored once', async () => {
    const { connectBus } = await import('@quittance/shared/bus');
    const invoices = await connectBus({
      url: nats.url,
      service: 'invoices',
      logger: createLogger('test', 'silent'),
    });
    const payload = {
      deposit_id: 'dep_bus',
      account_id: shop.account,
      invoice_id: 'inv_bus',
      asset: 'ETH',
      amount: '7',
      address: '0xABCDEF0000000000000000000000000000000001',
      derivation_index: 3,
      outpoint: '0x1:0',
      tx_hash: '0x1',
      block_height: 1,
      block_hash: '0x2',
      disposition: 'credit',
    };
    const send = (id: string, kind: 'deposit.settled' | 'deposit.reversed') =>
      invoices.publish([
        {
          kind,
          dedupe: `${id} ${Math.random()}`,
          body: JSON.stringify({ id, kind, created_at: new Date().toISOString(), request_id: null, payload }),
        },
      ]);
    const unswept = () =>
      db.maybe<{ reversed_at: Date | null }>(
        `select amount, address, state, reversed_at from unswept_deposits where deposit_id = 'dep_bus'`,
      );
    try {
      for (let i = 0; i < 3; i++) expect(await send('evt_a', 'deposit.settled')).toEqual([true]);
      await eventually(async () =>
        expect(await unswept()).toEqual({
          amount: '7',
          address: payload.address.toLowerCase(),
          state: 'held',
          reversed_at: null,
        }),
      );
      await send('evt_b', 'deposit.reversed');
      await eventually(async () => expect((await unswept())?.reversed_at).toBeInstanceOf(Date));
    } finally {
      await invoices.close();
    }
  });

  it('that is down makes new payouts answer 503 at once and store nothing, and reads work, until it is back', async () => {
    await shop.post(order);
    await nats.stop();
    await eventually(async () => {
      const start = performance.now();
      expect((await shop.post(order)).status).toBe(503);
      expect(performance.now() - start).toBeLessThan(1_000);
    });
    const before = await rowsOf(shop);
    expect((await shop.post(order)).status).toBe(503);
    expect(await rowsOf(shop)).toEqual(before);
    expect((await shop.get('/api/payouts')).body.data).toHaveLength(1);
    const ready = await fetch(`http://127.0.0.1:${service.port}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, waits_for: ['NATS'] }]);
    await nats.restart();
    await eventually(async () => expect((await shop.post(order)).status).toBe(201));
    expect((await rowsOf(shop)).filter((row) => row.status === 'requested')).toEqual([]);
  });
});
