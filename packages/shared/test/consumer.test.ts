import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import type { Bus } from '../src/bus.ts';
import { startConsumer } from '../src/consumer.ts';
import { type Db, openDb, type Trx } from '../src/db.ts';
import { newEventId } from '../src/ids.ts';
import { missingFromInbox } from '../src/inbox.ts';
import { createLogger } from '../src/logger.ts';

/** What becomes of a message that cannot be taken in: a real database, and deliveries as a test needs them. */

const logger = createLogger('test', 'silent');
let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await testDatabase();
  db = openDb({ url: database.urlOf('invoices'), schema: 'invoices', pool: 4, logger });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const anEvent = (payload: object = { deposit_id: 'dep_1', invoice_id: 'inv_1' }) => ({
  id: newEventId(new Date()),
  kind: 'credit.recorded',
  created_at: new Date().toISOString(),
  request_id: null,
  payload,
});

type Outcome = 'acked' | 'handed back' | 'ended';

/** Delivers each body once, as its `tries`th delivery, and answers what the consumer said to each. */
async function deliver(
  bodies: readonly string[],
  {
    tries = 1,
    handle = async () => undefined,
  }: { tries?: number; handle?: (trx: Trx) => Promise<void> } = {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const stopped = Promise.withResolvers<void>();
  const note = (i: number, outcome: Outcome) => {
    outcomes[i] = outcome;
  };
  const messages = bodies.map((body, i) => ({
    subject: 'evt.ledger.invoices.credit.recorded',
    seq: i + 1,
    info: { stream: 'EVT', deliveryCount: tries },
    data: Buffer.from(body),
    string: () => body,
    json: () => JSON.parse(body),
    ack: () => note(i, 'acked'),
    nak: () => note(i, 'handed back'),
    term: () => note(i, 'ended'),
  }));
  const consume = async () =>
    Object.assign(
      (async function* () {
        yield* messages.splice(0);
        await stopped.promise;
      })(),
      { stop: stopped.resolve },
    );
  const consumer = startConsumer({
    bus: { consume } as unknown as Bus,
    db,
    service: 'invoices',
    logger,
    handlers: { 'credit.recorded': handle },
  });
  try {
    await eventually(() => expect(Object.keys(outcomes)).toHaveLength(bodies.length), 5_000);
  } finally {
    await consumer.stop();
  }
  return outcomes;
}

const parkedAs = (id: string) =>
  db.maybe('select kind, envelope, failure from parked where event_id = $1', [id]);
const raise = (sqlstate: string) => async (trx: Trx) => {
  await trx.rows(`do $$ begin raise sqlstate '${sqlstate}'; end $$`);
};

test.each([
  ['a deadlock', '40P01'],
  ['a serialization failure', '40001'],
  ['a database that is shutting down', '57P01'],
  ['a lock held too long', '55P03'],
])('%s parks no event, however often it was delivered', async (_what, sqlstate) => {
  const event = anEvent();
  expect(await deliver([JSON.stringify(event)], { tries: 100, handle: raise(sqlstate) })).toEqual([
    'handed back',
  ]);
  expect(await parkedAs(event.id)).toBeUndefined();
});

test('an event that is refused is tried again, and parked after many tries', async () => {
  const event = anEvent();
  const refused = { handle: raise('23514') };
  expect(await deliver([JSON.stringify(event)], { ...refused, tries: 7 })).toEqual(['handed back']);
  expect(await deliver([JSON.stringify(event)], { ...refused, tries: 8 })).toEqual(['ended']);
  expect(await parkedAs(event.id)).toMatchObject({ kind: event.kind, envelope: event });
});

test('an event that this code cannot read is parked under its own id', async () => {
  const newer = { ...anEvent(), kind: 'credit.doubted' };
  const changed = anEvent({ deposit_id: 7 });
  const fine = anEvent();
  expect(await deliver([newer, changed, fine].map((event) => JSON.stringify(event)))).toEqual([
    'ended',
    'ended',
    'acked',
  ]);
  expect(await parkedAs(newer.id)).toMatchObject({ envelope: newer });
  expect(await parkedAs(changed.id)).toMatchObject({ envelope: changed });
  const all = [newer, changed, fine].map(({ id }) => id);
  expect(await missingFromInbox(db, all)).toEqual([]);
});

test.each([
  ['a NUL byte', '\0'],
  ['no JSON', 'credit!'],
  ['no event', '"credit"'],
  ['an id that is none', JSON.stringify({ ...anEvent(), id: '\0', kind: 'credit.doubted' })],
  ['a NUL in a field', JSON.stringify({ ...anEvent(), kind: 'nul \0' })],
  ['half a character', JSON.stringify({ ...anEvent(), kind: 'half \ud800' })],
  ['more depth than jsonb takes', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
])('%s is parked, and what comes behind it is taken in', async (_what, poison) => {
  await db.rows('delete from parked');
  expect(await deliver([poison, JSON.stringify(anEvent())])).toEqual(['ended', 'acked']);
  const { envelope } = await db.one<{ envelope: unknown }>('select envelope from parked');
  // Nothing of it is lost, whether or not the database can store it as it stands.
  const base64 = Object(envelope).base64;
  expect(
    typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString() : JSON.stringify(envelope),
  ).toBe(poison);
});

test('two unreadable messages are two, even when the bus starts counting anew', async () => {
  await db.rows('delete from parked');
  await deliver(['first']);
  await deliver(['second']);
  expect(await db.rows('select 1 from parked')).toHaveLength(2);
});

test('an event refused for the NUL in it is parked too', async () => {
  const event = anEvent({ deposit_id: '\0', invoice_id: 'inv_1' });
  const handle = async (trx: Trx) => void (await trx.rows('select $1::text', ['\0']));
  expect(await deliver([JSON.stringify(event)], { tries: 8, handle })).toEqual(['ended']);
  expect(await parkedAs(event.id)).toBeDefined();
  expect(await deliver([JSON.stringify({ ...event, id: '\0' })], { tries: 8 })).toEqual(['ended']);
});

test('what cannot even be parked is handed back, and what comes behind it is taken in', async () => {
  const admin = openDb({ url: database.adminUrl, schema: 'invoices', pool: 1, logger });
  await admin.rows('alter table parked rename to parked_elsewhere');
  try {
    expect(await deliver(['poison', JSON.stringify(anEvent())])).toEqual(['handed back', 'acked']);
  } finally {
    await admin.rows('alter table parked_elsewhere rename to parked');
    await admin.close();
  }
});
