import { describe, expect, it } from '@jest/globals';
import { connectBus } from '@quittance/shared/bus';
import type { Db, Statement } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { eventually } from '@quittance/testkit/eventually';
import type { Client } from './service-client.ts';
import { order, type RequestsFixture, requestsSuite } from './service-fixture.ts';

/** Repeated requests, repeated messages and lost answers have one effect, and an outage has none. */
let fixture: RequestsFixture;
requestsSuite((started) => {
  fixture = started;
});

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
      else expect([answer.status, answer.headers.get('retry-after')]).toEqual([409, '1']);
    }
    expect(await fixture.rowsOf(fixture.shop)).toHaveLength(1);
    expect(fixture.ledger.asked).toHaveLength(1);

    const again = await withKey('one');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect([again.status, again.body]).toEqual([201, made[0]?.body]);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(made[0]?.body));
  });

  it('replays the first answer, also a 400, whatever has changed since', async () => {
    fixture.ledger.reply = () => ({ outcome: 'refused' });
    expect((await withKey('poor')).status).toBe(400);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    fixture.board.isFresh = false;
    const again = await withKey('poor');
    expect([again.status, again.body]).toEqual([
      400,
      expect.objectContaining({ message: 'Insufficient balance' }),
    ]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
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
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect(await fixture.rowsOf(fixture.shop)).toMatchObject([{ status: 'voided' }, { status: 'reserved' }]);
  });

  it('is not taken by an invalid body', async () => {
    expect((await withKey('four', { ...order, amount: 0 })).status).toBe(422);
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
    const invoices = await connectBus({
      url: fixture.nats.url,
      service: 'invoices',
      logger: createLogger('test', 'silent'),
    });
    const payload = {
      deposit_id: 'dep_bus',
      account_id: fixture.shop.account,
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
      fixture.db.maybe<{ reversed_at: Date | null }>(
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
  /** The fixture.service on a database whose answers to one statement are lost, before or after it was carried out. */
  async function withLostAnswers(
    statement: string,
    lose: (call: number) => 'no' | 'before' | 'after',
    test: (client: Client) => Promise<void>,
  ): Promise<void> {
    let calls = 0;
    const real = fixture.service.ports.db;
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
    fixture.service.ports.db = flaky;
    try {
      await test(fixture.shop);
    } finally {
      fixture.service.ports.db = real;
    }
  }

  it('makes the service ask until it knows the result: accepted once, answered 201', async () => {
    await withLostAnswers(
      'payouts_reserve',
      (call) => (call === 1 ? 'after' : 'no'),
      async (client) => {
        const { status, body } = await client.post(order);
        expect(status).toBe(201);
        expect(await fixture.rowsOf(client)).toEqual([{ id: String(body.data.id), status: 'reserved' }]);
        expect(await fixture.published(body.data.id)).toEqual(['payout.created']);
      },
    );
  });

  it('and breaks again during the question still leads to 201', async () => {
    await withLostAnswers(
      'payouts_reserve',
      (call) => (call === 1 ? 'after' : 'no'),
      async (client) => {
        const flaky = fixture.service.ports.db;
        let looks = 0;
        fixture.service.ports.db = {
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
        expect(await fixture.rowsOf(client)).toEqual([{ id: String(body.data.id), status: 'reserved' }]);
      },
    );
  });

  it('before the commit succeeded leads to another commit', async () => {
    await withLostAnswers(
      'payouts_reserve',
      (call) => (call <= 2 ? 'before' : 'no'),
      async (client) => {
        expect((await client.post(order)).status).toBe(201);
        expect(await fixture.rowsOf(client)).toMatchObject([{ status: 'reserved' }]);
      },
    );
  });

  it('for long leads to an answer that promises nothing', async () => {
    await withLostAnswers(
      'payouts_reserve',
      () => 'after',
      async (client) => {
        const { status, body } = await client.post(order);
        expect([status, body]).toEqual([500, expect.objectContaining({ message: 'Server Error' })]);
      },
    );
  });
});
