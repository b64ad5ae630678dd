import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import type { Bus } from '../src/bus.ts';
import { startConsumer } from '../src/consumer.ts';
import { type Db, openDb, type Trx } from '../src/db.ts';
import { newEventId } from '../src/ids.ts';
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
