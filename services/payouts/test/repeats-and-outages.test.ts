import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Db, Statement } from '@quittance/shared/db';
import { eventually } from '@quittance/testkit/eventually';
import { aDeposit } from './deposit-event.ts';
import { order, requestsSuite } from './service-fixture.ts';

/** Repeated requests, repeated messages and lost answers have one effect, and an outage has none. */
const fixture = requestsSuite();

describe('Idempotency-Key', () => {
  const withKey = (key: string, body: object | string = order, client = fixture.shop) =>
    client.post(body, { 'idempotency-key': key });

  it('used a hundred times at once creates one payout', async () => {
    fixture.ledger.reply = () => ({
      outcome: 'placed',
      before: () => new Promise((resolve) => setTimeout(resolve, 50)),
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => withKey('one')));
    const made = answers.filter((answer) => answer.status === 201);
    expect(made.length).toBeGreaterThan(0);
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.body).toEqual(made[0]?.body);
      else expect([answer.status, answer.headers['retry-after']]).toEqual([409, '1']);
    }
    expect(await fixture.rowsOf(fixture.shop)).toHaveLength(1);
    expect(fixture.ledger.asked).toHaveLength(1);

    const again = await withKey('one');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect([again.status, again.body]).toEqual([201, made[0]?.body]);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(made[0]?.body));
  });

  it('replays the first answer, also a 400, whatever has changed since', async () => {
    fixture.ledger.reply = () => ({ outcome: 'refused' });
    expect((await withKey('poor')).status).toBe(400);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    fixture.board.isFresh = false;
    const again = await withKey('poor');
    expect([again.status, again.body]).toMatchObject([400, { message: 'Insufficient balance' }]);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('with another body is refused', async () => {
    await withKey('two');
    const { status, body } = await withKey('two', { ...order, amount: 2 });
    expect(status).toBe(422);
    expect(body.errors).toEqual({
      'Idempotency-Key': ['The Idempotency-Key was used before with another body.'],
    });
    expect(await fixture.rowsOf(fixture.shop)).toHaveLength(1);
  });

  it('is free again after a 503', async () => {
    fixture.ledger.reply = () => ({ outcome: 'voided' });
    expect((await withKey('three')).status).toBe(503);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    const { status, headers } = await withKey('three');
    expect([status, headers['idempotent-replayed']]).toEqual([201, undefined]);
    expect(await fixture.rowsOf(fixture.shop)).toMatchObject([{ status: 'voided' }, { status: 'reserved' }]);
  });

  it('is not taken by an invalid body, for which the ledger is not asked', async () => {
    const { status, body } = await withKey('four', { ...order, amount: 0 });
    const errors = { amount: ['The amount must be at least 0.00001.'] };
    expect([status, body]).toMatchObject([422, { message: 'The given data was invalid.', errors }]);
    expect([fixture.ledger.asked, await fixture.rowsOf(fixture.shop)]).toEqual([[], []]);
    expect((await withKey('four')).status).toBe(201);
  });

  it('of another account is a different key', async () => {
    const other = fixture.newClient();
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

describe('NATS', () => {
  it('delivers settled deposits and reversals several times, and each is stored once', async () => {
    const address = '0xABCDEF0000000000000000000000000000000001';
    const place = { address, index: 3, outpoint: '0x1:0' };
    const payload = aDeposit({ account_id: fixture.shop.account, asset: 'ETH', amount: 7n, ...place });
    const unswept = () =>
      fixture.db.maybe<{ reversed_at: Date | null }>(
        'select amount, address, state, reversed_at from unswept_deposits where deposit_id = $1',
        [payload.deposit_id],
      );
    for (let i = 0; i < 3; i++) await fixture.publish('deposit.settled', 'evt_a', payload);
    const stored = { amount: '7', address: address.toLowerCase(), state: 'held', reversed_at: null };
    await eventually(async () => expect(await unswept()).toEqual(stored));
    await fixture.publish('deposit.reversed', 'evt_b', payload);
    await eventually(async () => expect((await unswept())?.reversed_at).toBeInstanceOf(Date));
  });

  it('that is down makes new payouts answer 503 at once and store nothing, and reads work, until it is back', async () => {
    await fixture.shop.post(order);
    await fixture.nats.stop();
    await eventually(async () => {
      const start = performance.now();
      expect((await fixture.shop.post(order)).status).toBe(503);
      expect(performance.now() - start).toBeLessThan(1_000);
    });
    const before = await fixture.rowsOf(fixture.shop);
    expect((await fixture.shop.post(order)).status).toBe(503);
    expect(await fixture.rowsOf(fixture.shop)).toEqual(before);
    expect((await fixture.shop.get('/api/payouts')).body.data).toHaveLength(1);
    const ready = await fetch(`http://127.0.0.1:${fixture.service.port}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, waits_for: ['NATS'] }]);
    await fixture.nats.restart();
    await eventually(async () => expect((await fixture.shop.post(order)).status).toBe(201));
    expect((await fixture.rowsOf(fixture.shop)).filter((row) => row.status === 'requested')).toEqual([]);
  });
});

describe('a connection that breaks during the commit', () => {
  let real: Db;
  beforeEach(() => {
    real = fixture.service.ports.db;
  });
  afterEach(() => {
    fixture.service.ports.db = real;
  });

  /** Answers to one statement are lost, before or after it was carried out. */
  function lose(method: 'one' | 'maybe', name: string, fate: (call: number) => 'no' | 'before' | 'after') {
    const { db } = fixture.service.ports;
    let calls = 0;
    const flaky = async (sql: Statement | string, values?: readonly unknown[]) => {
      const ask = () => (method === 'one' ? db.one(sql, values) : db.maybe(sql, values));
      if (typeof sql === 'string' || sql.name !== name) return ask();
      calls += 1;
      const lost = fate(calls);
      const answer = lost === 'before' ? undefined : await ask();
      if (lost !== 'no') throw new Error('Connection terminated unexpectedly');
      return answer;
    };
    fixture.service.ports.db = { ...db, [method]: flaky };
    return { calls: () => calls };
  }

  it('and again during a question makes the service ask until it knows the result', async () => {
    lose('one', 'payouts_reserve', (call) => (call === 1 ? 'after' : 'no'));
    const looks = lose('maybe', 'payouts_one', (call) => (call === 1 ? 'before' : 'no'));
    const { status, body } = await fixture.shop.post(order);
    expect([status, looks.calls()]).toEqual([201, 2]);
    expect(await fixture.rowsOf(fixture.shop)).toEqual([{ id: String(body.data.id), status: 'reserved' }]);
    expect(await fixture.published(body.data.id)).toEqual(['payout.created']);
  });

  it('before the commit succeeded leads to another commit', async () => {
    lose('one', 'payouts_reserve', (call) => (call <= 2 ? 'before' : 'no'));
    expect((await fixture.shop.post(order)).status).toBe(201);
    expect(await fixture.rowsOf(fixture.shop)).toMatchObject([{ status: 'reserved' }]);
  });

  it('for long leads to an answer that promises nothing', async () => {
    lose('one', 'payouts_reserve', () => 'after');
    const { status, body } = await fixture.shop.post(order);
    expect([status, body]).toMatchObject([500, { message: 'Server Error' }]);
  });
});
