import { beforeEach, expect, test } from '@jest/globals';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import type { Db } from '../src/db.ts';
import { events, type Service, subjectOf } from '../src/events.ts';
import type { EventId } from '../src/ids.ts';
import { answerPruning, missingFromInbox, pruneInboxStep } from '../src/inbox.ts';
import { createLogger, throttledLog } from '../src/logger.ts';
import { processMessages } from '../src/process-messages.ts';
import { answerReconcilers, reconcileStep } from '../src/reconcile.ts';
import { aMessage } from './delivered-message.ts';
import { aBusOfRequests, DAY, type Sent, storeSent } from './inbox-pruning-fixture.ts';

/** Payouts hears from invoices and from the auditor: one real receiver with two real senders, over a bus that hands questions on. */

const logger = createLogger('test', 'silent');
const PAYOUTS = 'payouts';
const members = ['invoices', 'auditor', 'ledger', PAYOUTS] as const;

const database = await suiteDatabase();
const dbs = new Map<Service, Db>(members.map((service) => [service, database.openAs(service)]));
const dbOf = (service: Service): Db => dbs.get(service) as Db;
/** Makes things older than they are, and looks at what nobody else may see. */
const admin = database.openAsAdmin(PAYOUTS);
/** Who is away does not answer. */
const { bus, away } = aBusOfRequests();
let processed: EventId[];

for (const service of members) {
  answerPruning(bus, dbOf(service), service);
  answerReconcilers(bus, dbOf(service), service);
}
beforeEach(async () => {
  away.clear();
  processed = [];
  await admin.rows(
    'truncate payouts.inbox, payouts.dead_letters, payouts.inbox_pruning, payouts.inbox_exceptions',
  );
  await admin.rows('truncate invoices.outbox, auditor.outbox');
});

const sent = (daysAgo: number, how?: Parameters<typeof storeSent>[2]) => storeSent(admin, daysAgo, how);

/** Delivered by NATS; inbox rows get the age of their events. */
async function delivered(...given: Sent[]): Promise<string[]> {
  const outcomes: string[] = [];
  const messages = given.map((event) =>
    aMessage(subjectOf(event.kind, PAYOUTS), JSON.stringify(event), (outcome) => outcomes.push(outcome)),
  );
  const handle = async (_trx: unknown, some: readonly { id: EventId }[]) => {
    processed.push(...some.map(({ id }) => id));
  };
  await processMessages(messages, {
    db: dbOf(PAYOUTS),
    handlers: { 'deposit.settled': handle, 'asset.resumed': handle },
    logger,
    throttled: throttledLog(logger),
  });
  for (const { id, created_at } of given)
    await admin.rows('update inbox set received_at = $2 where event_id = $1', [id, created_at]);
  return outcomes;
}

/** The sender forgets what all have had for thirty days. */
async function senderForgets(...deleted: Sent[]): Promise<void> {
  for (const { id, kind } of deleted)
    await admin.rows(`delete from ${events[kind].from}.outbox where id = $1`, [id]);
}

const step = () => pruneInboxStep(dbOf(PAYOUTS), bus, PAYOUTS);
const hourPasses = () => admin.rows(`update inbox_pruning set since = since - interval '1 hour'`);
/** What is refused first is removed an hour later. */
async function prune(): Promise<void> {
  await step();
  await hourPasses();
  while ((await step()) > 0);
}
/** Delivered, and forgotten by those who sent them. */
async function past(...some: Sent[]): Promise<void> {
  await delivered(...some);
  await senderForgets(...some);
}
const inbox = async (): Promise<string[]> =>
  (await admin.rows<{ id: string }>('select event_id as id from inbox order by 1')).map(({ id }) => id);
const idsOf = (some: readonly Sent[]) => some.map(({ id }) => id as string).toSorted();

test('removes what no sender keeps, and keeps what is younger than thirty days', async () => {
  const old = [await sent(90), await sent(45), await sent(40, { kind: 'asset.resumed' })];
  const young = [await sent(29), await sent(1, { kind: 'asset.resumed' })];
  expect(await delivered(...old, ...young)).toEqual(Array(5).fill('acked'));
  await senderForgets(...old, ...young);
  await prune();
  expect(await inbox()).toEqual(idsOf(young));
  expect(processed).toHaveLength(5);
});

test.each([
  ['is not confirmed by all its receivers', { confirmed: false }],
  ['is confirmed and not forgotten yet', { confirmed: true }],
])('keeps everything from the oldest event on that a sender keeps: one that %s', async (_what, how) => {
  const before = await sent(60);
  const kept = await sent(50, how);
  const after = [await sent(45), await sent(40, { kind: 'asset.resumed' })];
  await delivered(before, kept, ...after);
  await senderForgets(before, ...after);
  await prune();
  expect(await inbox()).toEqual(idsOf([kept, ...after]));
  // Sent again, as for another receiver where it was a dead letter: no second effect.
  expect(await delivered(kept)).toEqual(['acked']);
  expect(processed).toHaveLength(4);
});

test('removes nothing while one of the senders does not answer', async () => {
  const old = await sent(90);
  await past(old);
  away.add('auditor');
  await prune();
  expect(await inbox()).toEqual([old.id]);
  away.clear();
  await prune();
  expect(await inbox()).toEqual([]);
});

test('an event that was sent while its receiver was down is processed, however old it is', async () => {
  const others = [await sent(100), await sent(45)];
  const late = await sent(80, { confirmed: false });
  await past(...others);
  await prune();
  expect(await missingFromInbox(dbOf(PAYOUTS), [late.id])).toEqual([late.id]);
  expect(await delivered(late)).toEqual(['acked']);
  expect(processed).toContain(late.id);
});

test('an event that a restored backup of its sender sends again has no second effect, and becomes a dead letter', async () => {
  const old = [await sent(60, { kind: 'asset.resumed' }), await sent(59, { kind: 'asset.resumed' })];
  await past(...old);
  await prune();
  expect(await inbox()).toEqual([]);
  // The backup knows them as sent, and confirmed by nobody.
  await admin.rows(
    `insert into auditor.outbox (id, kind, payload, sent_at, sends)
     select id, 'asset.resumed', '{}', now() - interval '1 hour', 1 from unnest($1::text[]) as g(id)`,
    [idsOf(old)],
  );
  const told = () =>
    admin.rows('select confirmed_by, dead_lettered_by, sent_at is null as again from auditor.outbox');
  await reconcileStep(dbOf('auditor'), bus, logger, 0);
  // No event is confirmed that is neither processed nor a dead letter.
  expect(await told()).toEqual(old.map(() => ({ confirmed_by: [], dead_lettered_by: [], again: true })));
  await admin.rows(`update auditor.outbox set sent_at = now() - interval '1 hour'`);
  expect(await delivered(...old)).toEqual(['ended', 'ended']);
  await reconcileStep(dbOf('auditor'), bus, logger, 0);
  expect(await told()).toEqual(
    old.map(() => ({ confirmed_by: [PAYOUTS], dead_lettered_by: [PAYOUTS], again: false })),
  );
  expect(processed).toHaveLength(2);
  expect(await inbox()).toEqual([]);
  const deadLetters = await admin.rows<{ event_id: string; failure: string }>(
    'select event_id, failure from dead_letters',
  );
  expect(deadLetters.map(({ event_id }) => event_id).toSorted()).toEqual(idsOf(old));
  expect(deadLetters[0]?.failure).toContain('it may have been processed before');
});

test('an old event of which an operator has found no effect is processed once', async () => {
  const [taken, slow] = [await sent(60), await sent(61)];
  await delivered(taken);
  await senderForgets(taken, slow);
  await prune();
  expect(await delivered(slow)).toEqual(['ended']);
  await admin.rows('delete from dead_letters');
  await admin.rows('insert into inbox_exceptions (event_id) values ($1)', [slow.id]);
  expect(await delivered(slow, taken)).toEqual(['acked', 'ended']);
  expect(processed).toEqual([taken.id, slow.id]);
  expect(await delivered(slow)).toEqual(['acked']);
  expect(processed).toEqual([taken.id, slow.id]);
  expect(await admin.rows('select from inbox_exceptions')).toEqual([]);
});

test('a receiver whose clock is months ahead refuses nothing that it has not seen the like of', async () => {
  const ahead = { now: () => new Date(Date.now() + 90 * DAY) };
  await pruneInboxStep(dbOf(PAYOUTS), bus, PAYOUTS, ahead);
  expect(await delivered(await sent(1))).toEqual(['acked']);
  await admin.rows('truncate invoices.outbox, auditor.outbox');
  await pruneInboxStep(dbOf(PAYOUTS), bus, PAYOUTS, ahead);
  expect(await delivered(await sent(0))).toEqual(['acked']);
});

test('one that is refused as too old does not keep the others of its batch', async () => {
  const old = await sent(60);
  await past(old);
  await prune();
  const fresh = [await sent(0), await sent(0, { kind: 'asset.resumed' })];
  processed = [];
  expect((await delivered(fresh[0] as Sent, old, fresh[1] as Sent)).toSorted()).toEqual([
    'acked',
    'acked',
    'ended',
  ]);
  expect(processed.toSorted()).toEqual(idsOf(fresh));
});

test('refuses first, and removes when whoever began before that has ended', async () => {
  const old = await sent(60);
  await past(old);
  await step();
  expect(await step()).toBe(0);
  expect(await inbox()).toEqual([old.id]);
  // Known all that time.
  expect(await delivered(old)).toEqual(['acked']);
  await admin.rows(`update inbox_pruning set since = since - interval '11 minutes'`);
  expect(await step()).toBe(1);
  expect(processed).toEqual([old.id]);
});

test('many replicas that step one after the other put the removal off for no longer', async () => {
  const first = await sent(60);
  await past(first);
  await step();
  for (let i = 0; i < 3; i++) {
    await admin.rows(`update inbox_pruning set since = since - interval '5 minutes'`);
    await step();
  }
  expect(await inbox()).toEqual([]);
});

test('never goes back: what was refused once is refused for good', async () => {
  await delivered(await sent(0));
  await prune();
  const before = await admin.one('select before_id from inbox_pruning');
  await sent(400);
  await prune();
  expect(await admin.one('select before_id from inbox_pruning')).toEqual(before);
});

test('removes thousands in batches, also when two replicas do', async () => {
  await admin.rows(
    `insert into inbox (event_id, received_at)
     select 'evt_0' || lpad(n::text, 35, '0'), now() - interval '60 days' from generate_series(1, 2600) as n`,
  );
  await step();
  await hourPasses();
  const prune = async () => {
    let all = 0;
    for (let n = await step(); n > 0; n = await step()) {
      expect(n).toBeLessThanOrEqual(500);
      all += n;
    }
    return all;
  };
  const [one, two] = await Promise.all([prune(), prune()]);
  expect(one + two).toBe(2_600);
  expect(await inbox()).toEqual([]);
});

test('the service itself may remove nothing, and its one way removes nothing young', async () => {
  const young = await sent(90);
  await delivered(young);
  await admin.rows("update inbox set received_at = now() - interval '29 days'");
  await dbOf(PAYOUTS).rows(
    `insert into inbox_pruning (before_id, since) values ('z', now() - interval '1 day')`,
  );
  const [{ pruned } = {}] = await dbOf(PAYOUTS).rows('select prune_inbox(1000000) as pruned');
  expect(pruned).toBe(0);
  await expect(dbOf(PAYOUTS).rows('delete from inbox')).rejects.toMatchObject({ code: '42501' });
  await expect(dbOf(PAYOUTS).rows('delete from inbox_pruning')).rejects.toMatchObject({ code: '42501' });
});
