import { expect, test } from '@jest/globals';
import { anEventOf } from '@quittance/testkit/builders';
import { eventually } from '@quittance/testkit/eventually';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import type { Bus } from '../src/bus.ts';
import type { Trx } from '../src/db.ts';
import { missingFromInbox } from '../src/inbox.ts';
import { createLogger, throttledLog } from '../src/logger.ts';
import { startConsumer } from '../src/messenger.ts';
import { type Handlers, processMessages } from '../src/process-messages.ts';
import { aMessage, type Outcome } from './delivered-message.ts';

/** What happens to a message that cannot be processed: a real database, and deliveries as a test needs them. */

const logger = createLogger('test', 'silent');
const database = await suiteDatabase();
const db = database.openAs('invoices');
/** Removes what the service's own role must keep. */
const admin = database.openAsAdmin('invoices');

const anEvent = (payload: object = { deposit_id: 'dep_1', invoice_id: 'inv_1' }) =>
  anEventOf('credit.recorded', payload);

const SUBJECT = 'evt.ledger.invoices.credit.recorded';
type Handle = NonNullable<Handlers['credit.recorded']>;
type Deliveries = { tries?: number; subject?: string; handle?: Handle };

/** Delivers each body once, as its `tries`th delivery, and answers what the consumer said to each. */
async function deliver(
  bodies: readonly string[],
  { tries = 1, handle = async () => undefined, subject = SUBJECT }: Deliveries = {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const stopped = Promise.withResolvers<void>();
  const messages = bodies.map((body, i) =>
    aMessage(subject, body, (outcome) => Object.assign(outcomes, { [i]: outcome }), tries),
  );
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
    await eventually(() => expect(Object.keys(outcomes)).toHaveLength(bodies.length), 15_000);
  } finally {
    await consumer.stop();
  }
  return outcomes;
}

const deadLetterAs = (id: string) =>
  db.maybe('select kind, envelope, failure from dead_letters where event_id = $1', [id]);
const raise = (sqlstate: string) => async (trx: Trx) => {
  await trx.rows(`do $$ begin raise sqlstate '${sqlstate}'; end $$`);
};

test.each([
  ['a deadlock', '40P01'],
  ['a serialization failure', '40001'],
  ['a database that is shutting down', '57P01'],
  ['a lock held too long', '55P03'],
])('%s makes no event a dead letter, however often it was delivered', async (_what, sqlstate) => {
  const event = anEvent();
  expect(await deliver([JSON.stringify(event)], { tries: 100, handle: raise(sqlstate) })).toEqual([
    'handed back',
  ]);
  expect(await deadLetterAs(event.id)).toBeUndefined();
});

test('an event that fails is tried again, and becomes a dead letter after many attempts', async () => {
  const event = anEvent();
  const refused = { handle: raise('23514') };
  expect(await deliver([JSON.stringify(event)], { ...refused, tries: 7 })).toEqual(['handed back']);
  expect(await deliver([JSON.stringify(event)], { ...refused, tries: 8 })).toEqual(['ended']);
  expect(await deadLetterAs(event.id)).toMatchObject({ kind: event.kind, envelope: event });
});

test('an event that this release cannot parse becomes a dead letter under its own id', async () => {
  const newer = { ...anEvent(), kind: 'credit.doubted' };
  const changed = anEvent({ deposit_id: 7 });
  const fine = anEvent();
  expect(await deliver([newer, changed, fine].map((event) => JSON.stringify(event)))).toEqual([
    'ended',
    'ended',
    'acked',
  ]);
  expect(await deadLetterAs(newer.id)).toMatchObject({ envelope: newer });
  expect(await deadLetterAs(changed.id)).toMatchObject({ envelope: changed });
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
])('%s becomes a dead letter, and later events are processed', async (_what, poison) => {
  await admin.rows('delete from dead_letters');
  expect(await deliver([poison, JSON.stringify(anEvent())])).toEqual(['ended', 'acked']);
  const { envelope } = await db.one<{ envelope: unknown }>('select envelope from dead_letters');
  // Nothing of it is lost, whether or not the database can store it as it stands.
  const base64 = Object(envelope).base64;
  expect(
    typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString() : JSON.stringify(envelope),
  ).toBe(poison);
});

test('two unreadable messages are two dead letters, also when NATS counts from one again', async () => {
  await admin.rows('delete from dead_letters');
  await deliver(['first']);
  await deliver(['second']);
  expect(await db.rows('select 1 from dead_letters')).toHaveLength(2);
});

test('an event with a NUL, which Postgres refuses, becomes a dead letter too', async () => {
  const event = anEvent({ deposit_id: '\0', invoice_id: 'inv_1' });
  const handle = async (trx: Trx) => void (await trx.rows('select $1::text', ['\0']));
  expect(await deliver([JSON.stringify(event)], { tries: 8, handle })).toEqual(['ended']);
  expect(await deadLetterAs(event.id)).toBeDefined();
  expect(await deliver([JSON.stringify({ ...event, id: '\0' })], { tries: 8 })).toEqual(['ended']);
});

test('an event that cannot be stored as a dead letter is returned, and later events are processed', async () => {
  await admin.rows('alter table dead_letters rename to dead_letters_elsewhere');
  try {
    expect(await deliver(['poison', JSON.stringify(anEvent())])).toEqual(['handed back', 'acked']);
  } finally {
    await admin.rows('alter table dead_letters_elsewhere rename to dead_letters');
  }
});

test('what is for another service is left to that one', async () => {
  await admin.rows('delete from dead_letters');
  const told = { ...anEvent(), kind: 'invoice.created' };
  const subject = 'evt.invoices.webhooks.invoice.created';
  expect(await deliver([JSON.stringify(told)], { subject, handle: raise('23514') })).toEqual(['acked']);
  expect(await db.rows('select 1 from dead_letters')).toEqual([]);
  expect(await missingFromInbox(db, [told.id])).toEqual([told.id]);
});

test('an event under the name of a service that does not send it has no effect, and hides no true one', async () => {
  const forged = anEvent();
  const subject = 'evt.payouts.invoices.credit.recorded';
  let handled = 0;
  const handle = async () => {
    handled += 1;
  };
  expect(await deliver([JSON.stringify(forged)], { subject, handle })).toEqual(['ended']);
  expect(handled).toBe(0);
  expect(await missingFromInbox(db, [forged.id])).toEqual([forged.id]);
});

/** A consumer's step with what it keeps from batch to batch, and the lines that it writes. */
function aConsumer() {
  const lines: object[] = [];
  const write = (line: string) => {
    const { level, events, event, times, suppressed, reason, msg } = JSON.parse(line);
    lines.push({ level, events, event, times, suppressed, reason, msg });
  };
  const written = createLogger('test', 'info', { write });
  const throttled = throttledLog(written);
  return {
    lines,
    /** Takes a batch in; answers what was said to each of its events. */
    async take(batch: readonly object[], handle: Handle): Promise<Outcome[]> {
      const outcomes: Outcome[] = [];
      const messages = batch.map((event, i) =>
        aMessage(SUBJECT, JSON.stringify(event), (outcome) => Object.assign(outcomes, { [i]: outcome })),
      );
      await processMessages(messages, {
        db,
        handlers: { 'credit.recorded': handle },
        logger: written,
        throttled,
      });
      return outcomes;
    },
  };
}

const some = (count: number) => Array.from({ length: count }, () => anEvent());

test('a database that takes nothing is one line, however many events wait for it, and one when it takes them', async () => {
  const { lines, take } = aConsumer();
  let asked = 0;
  const full: Handle = (trx) => {
    asked += 1;
    return raise('53100')(trx);
  };
  for (let i = 0; i < 5; i++)
    expect(await take(some(20), full)).toEqual(Array.from({ length: 20 }, () => 'handed back'));
  expect(lines).toEqual([
    {
      level: 'warn',
      events: 20,
      reason: expect.stringContaining('53100'),
      msg: 'events could not be processed, they will be tried again',
    },
  ]);
  // All together and two of them alone: the others would learn the same.
  expect(asked).toBe(5 * 3);

  const [again] = some(1);
  expect(await take([again ?? {}], async () => undefined)).toEqual(['acked']);
  expect(lines.slice(1)).toEqual([{ level: 'info', suppressed: 9, msg: 'events are processed again' }]);
  await take(some(1), full);
  expect(lines.slice(2)).toMatchObject([{ level: 'warn', events: 1 }]);
});

test.each([
  ['a lock held too long', '55P03', 2],
  ['a statement that lasts too long', '57014', 2],
  ['a deadlock', '40P01', 2],
  ['the end of the connection', '57P01', 1],
])('%s that some events meet does not hold up the others', async (_what, sqlstate, met) => {
  const { lines, take } = aConsumer();
  const batch = some(5);
  const those = batch.slice(2, 2 + met);
  const handle: Handle = async (trx, events) => {
    if (events.some(({ id }) => those.some((one) => one.id === id))) await raise(sqlstate)(trx);
  };
  const outcomes = batch.map((one) => (those.includes(one) ? 'handed back' : 'acked'));
  expect(await take(batch, handle)).toEqual(outcomes);
  expect(lines).toMatchObject([{ level: 'warn', events: 5, reason: expect.stringContaining(sqlstate) }]);
  expect(await take(some(1), async () => undefined)).toEqual(['acked']);
  expect(lines.slice(1)).toMatchObject([{ level: 'info' }]);
});

test('an event that is refused is told of by its name, also while others wait for what passes', async () => {
  const { lines, take } = aConsumer();
  const batch = some(5);
  const ids = batch.map(({ id }) => id);
  const tried: string[][] = [];
  const handle: Handle = async (trx, events) => {
    tried.push(events.map(({ id }) => id));
    if (events.some(({ id }) => id === ids[1])) await raise('23514')(trx);
    if (events.some(({ id }) => id === ids[2] || id === ids[3])) await raise('57P01')(trx);
  };
  expect(await take(batch, handle)).toEqual([
    'acked',
    ...Array.from({ length: 4 }, () => 'handed back' as const),
  ]);
  // The last one is not tried: the database is away.
  expect(tried).toEqual([ids, ...ids.slice(0, 4).map((id) => [id])]);
  expect(lines).toMatchObject([
    { level: 'warn', events: 5, msg: 'a batch failed, processing its events one by one' },
    { level: 'warn', event: ids[1], msg: 'an event could not be processed, it will be tried again' },
    { level: 'warn', events: 3, msg: 'events could not be processed, they will be tried again' },
  ]);
});
