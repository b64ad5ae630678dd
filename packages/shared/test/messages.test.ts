import { rmSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { connectBus } from '../src/bus.ts';
import { type Db, openDb, type Trx } from '../src/db.ts';
import type { NewEvent } from '../src/events.ts';
import { createLogger } from '../src/logger.ts';
import { startConsumer } from '../src/messenger.ts';
import { appendToOutbox, relayStep } from '../src/outbox.ts';
import { answerReconcilers, reconcileStep } from '../src/reconcile.ts';

/** The ledger tells invoices `credit.recorded`: one real sender, one real receiver, over a real bus. */

const logger = createLogger('test', 'silent');
const database = await suiteDatabase();
const nats = await testNats();
database.finally(() => nats.stop());
const open = async (schema: 'ledger' | 'invoices') => {
  const bus = await connectBus({ url: nats.url, service: schema, logger });
  database.finally(() => bus.close());
  return { db: database.openAs(schema, { pool: 20 }), bus };
};
const sender = await open('ledger');
const receiver = await open('invoices');
answerReconcilers(receiver.bus, receiver.db, 'invoices');
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

let made = 0;
const credit = (name: string): NewEvent => ({
  kind: 'credit.recorded',
  payload: { deposit_id: `${name}-${++made}`, invoice_id: name },
});
const credits = (name: string, count: number) => Array.from({ length: count }, () => credit(name));

const send = (events: NewEvent[]) => sender.db.transaction((trx) => appendToOutbox(trx, events));

async function relayAll(): Promise<void> {
  while ((await relayStep(sender.db, sender.bus, logger)) > 0);
}

/** Takes events in and remembers what for, as an effect would: in the transaction that commits it. */
function receive(handle: (trx: Trx, deposit: string) => Promise<void> = async () => undefined): string[] {
  const received: string[] = [];
  running.push(
    startConsumer({
      ...receiver,
      service: 'invoices',
      logger,
      handlers: {
        'credit.recorded': async (trx, events) => {
          const names = events.map((event) => event.payload.deposit_id);
          for (const name of names) await handle(trx, name);
          received.push(...names);
        },
      },
    }),
  );
  return received;
}

test('events of 16 concurrent writers arrive once each, although two relays run', async () => {
  const received = receive();
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let i = 0; i < 25; i++) await send([credit(`writer-${writer}`)]);
  });
  const relays = Array.from({ length: 2 }, async () => {
    for (let i = 0; i < 40; i++) await relayStep(sender.db, sender.bus, logger);
  });
  await Promise.all([...writers, ...relays]);
  await relayAll();
  await eventually(() => expect(received.length).toBeGreaterThanOrEqual(400));
  expect(new Set(received).size).toBe(received.length);
});

test('what a relay notes waits for no disk, and everything else on its connection does', async () => {
  const db = openDb({ url: database.urlOf('ledger'), schema: 'ledger', pool: 1, logger });
  try {
    await db.rows('set synchronous_commit to on');
    await db.transaction((trx) => appendToOutbox(trx, [credit('noted')]));
    await db.transaction(async (trx) => {
      expect(await relayStep(trx as unknown as Db, sender.bus, logger)).toBeGreaterThan(0);
      expect(await trx.one('show synchronous_commit')).toEqual({ synchronous_commit: 'off' });
    });
    expect(await db.one('show synchronous_commit')).toEqual({ synchronous_commit: 'on' });
    await db.transaction((trx) => appendToOutbox(trx, [credit('noted')]));
    await relayStep(db, sender.bus, logger);
    expect(await db.one('show synchronous_commit')).toEqual({ synchronous_commit: 'on' });
  } finally {
    await db.close();
  }
});

test('an event of a transaction that is rolled back is sent to no service', async () => {
  const received = receive();
  const doomed = credit('doomed');
  await expect(
    sender.db.transaction(async (trx) => {
      await appendToOutbox(trx, [doomed]);
      throw new Error('changed its mind');
    }),
  ).rejects.toThrow('changed its mind');
  const kept = credit('kept');
  await send([kept]);
  await relayAll();
  await eventually(() => expect(received).toContain((kept.payload as { deposit_id: string }).deposit_id));
  expect(received.some((name) => name.startsWith('doomed'))).toBe(false);
});

test('an event that NATS might refuse is refused by appendToOutbox', async () => {
  const large: NewEvent = {
    kind: 'credit.recorded',
    payload: { deposit_id: 'x'.repeat(270_000), invoice_id: 'i' },
  };
  await expect(send([credit('beside'), large])).rejects.toThrow('is not too large');
  const beside = await sender.db.rows(`select 1 from outbox where payload->>'invoice_id' = 'beside'`);
  expect(beside).toEqual([]);
});

test('an event that is too large all the same is held back with an error that names it, and the others are sent', async () => {
  const received = receive();
  const errors: unknown[] = [];
  const listening = {
    ...logger,
    error: (...told: unknown[]) => errors.push(told),
  } as unknown as typeof logger;
  await send([credit('around')]);
  // As an older version may have left it there.
  await sender.db.rows(
    `insert into outbox (id, kind, payload)
     values ('evt_large', 'credit.recorded', jsonb_build_object('deposit_id', repeat('x', 2000000), 'invoice_id', 'large'))`,
  );
  await send([credit('around')]);
  while ((await relayStep(sender.db, sender.bus, listening)) > 0);
  await eventually(() => expect(received.filter((name) => name.startsWith('around'))).toHaveLength(2));
  expect(errors).toEqual([
    [
      { event: 'evt_large', kind: 'credit.recorded', bytes: expect.any(Number) },
      expect.stringContaining('too large'),
    ],
  ]);
  const row = () =>
    sender.db.one(
      `select sent_at, claimed_until = 'infinity' as "isAside" from outbox where id = 'evt_large'`,
    );
  expect(await row()).toEqual({ sent_at: null, isAside: true });
  await reconcileStep(sender.db, sender.bus, logger, 0);
  expect(await relayStep(sender.db, sender.bus, listening)).toBe(0);
  expect(errors).toHaveLength(1);
  await sender.db.rows(`update outbox set sent_at = now(), confirmed_at = now() where id = 'evt_large'`);
});

test('the broker loses its whole data directory: a receiver that went on running gets what is missing', async () => {
  await relayAll();
  // Runs all the time, and has not taken these in when the broker forgets them.
  let forgotten = false;
  const refused = new Set<string>();
  const received = receive(async (_trx, name) => {
    if (forgotten || !name.startsWith('lost')) return;
    refused.add(name);
    throw new Error('not yet');
  });
  await send(credits('lost', 10));
  await relayAll();
  await eventually(() => expect(refused.size).toBe(10));
  await nats.stop();
  rmSync(nats.dataDir, { recursive: true, force: true });
  await nats.restart();
  await eventually(() => expect(sender.bus.connected() && receiver.bus.connected()).toBe(true));
  forgotten = true;

  await eventually(async () => {
    await reconcileStep(sender.db, sender.bus, logger, 0);
    await relayAll();
    expect(received.filter((name) => name.startsWith('lost'))).toHaveLength(10);
  });
  await eventually(async () => {
    await reconcileStep(sender.db, sender.bus, logger, 0);
    const { open } = await sender.db.one<{ open: string }>(
      'select count(*) as open from outbox where confirmed_at is null',
    );
    expect(open).toBe('0');
  });
  expect(received.filter((name) => name.startsWith('lost'))).toHaveLength(10);
});
