import { describe, expect, test } from '@jest/globals';
import { type BusUser, bucketNames, buckets, STREAM } from '@quittance/shared/bus-connection';
import { ADMIN, busUsers, permissionsOf } from '@quittance/shared/bus-permissions';
import { commandSubject, commands } from '@quittance/shared/commands';
import type { Db } from '@quittance/shared/db';
import { events, subjectOf } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { startConsumer } from '@quittance/shared/messenger';
import { eventually } from '@quittance/testkit/eventually';
import { aDeposit, commandNames, kinds, openNatsFixture, streams } from './nats-fixture.ts';

/** NATS checks what a user publishes, and not which reply subject it names: an answer must not become another’s message. */

const nats = openNatsFixture();
const ANSWERED_WITHIN_MS = 1_000;

test('answers of NATS that an earlier configuration let it store under another’s subject have no effect, and are nobody’s dead letters', async () => {
  const stored: string[] = [];
  const taken: string[] = [];
  const rows = async (sql: { name: string }, values: readonly unknown[]) => {
    if (sql.name !== 'inbox_insert') stored.push(sql.name);
    return sql.name === 'inbox_insert' ? (values[0] as string[]).map((id) => ({ event_id: id })) : [];
  };
  // What it does to the database is written down: a dead letter is a row that is inserted.
  const db = { rows, transaction: (work: (trx: unknown) => unknown) => work({ rows }) } as unknown as Db;
  const lines: string[] = [];
  const consumer = startConsumer({
    db,
    bus: nats.busOf('ledger'),
    service: 'ledger',
    logger: createLogger('test', 'info', { write: (line) => lines.push(line) }),
    handlers: { '*': async (_trx, events) => void taken.push(...events.map(({ id }) => id)) },
  });
  const manager = await nats.admin.jetstreamManager();
  const lastSequence = async () => (await manager.streams.info(STREAM)).state.last_seq;
  // In the account of the streams, as all users were in one account before.
  const evil = await nats.login(ADMIN);
  const own = 'evt.payouts.webhooks.payout.created';
  const next = `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.payouts`;
  const victim = 'evt.invoices.ledger.deposit.settled';
  await (await nats.busOf('ledger').kv('quotes')).put('ETH', 'a value');
  /** What it may ask, each with an answer of its own kind. */
  const questions: [subject: string, body: string][] = [
    [next, '{"batch":1,"no_wait":true}'],
    [next, '{"batch":1,"expires":50000000}'],
    [next, '{"batch":1,"expires":500000000,"idle_heartbeat":100000000}'],
    [next, '{'],
    [`$JS.API.CONSUMER.INFO.${STREAM}.payouts`, ''],
    [own, '{}'],
    ['$JS.API.DIRECT.GET.KV_quotes.$KV.quotes.ETH', ''],
    ['$JS.API.DIRECT.GET.KV_quotes.$KV.quotes.NONE', ''],
  ];
  for (const [subject, body] of questions) {
    const before = await lastSequence();
    evil.publish(subject, body, { reply: victim });
    await eventually(async () => expect(await lastSequence()).toBeGreaterThan(before));
  }
  const last = aDeposit();
  await nats
    .busOf('invoices')
    .publish([{ kind: 'deposit.settled', dedupe: 'last', body: JSON.stringify(last) }]);
  await eventually(() => expect(taken).toContain(last.id), 20_000);
  await consumer.stop();
  await evil.close();
  expect(taken).toEqual([last.id]);
  expect(stored).toEqual([]);
  expect(lines.filter((line) => line.includes('answers of NATS itself'))).toHaveLength(1);
  // What the consumer acknowledged last may be on its way.
  await eventually(async () => {
    const { num_pending, num_ack_pending } = await manager.consumers.info(STREAM, 'ledger');
    expect({ num_pending, num_ack_pending }).toEqual({ num_pending: 0, num_ack_pending: 0 });
  });
});

// Last: each user fills the stream with rubbish in its own name.
describe('a reply subject reaches no further than the account of the user who names it', () => {
  const ofUser = (user: BusUser, subject: string) =>
    permissionsOf(user).publish.some((allowed) =>
      allowed.endsWith('.*') ? subject.startsWith(allowed.slice(0, -1)) : subject === allowed,
    );

  /** What each stream holds under subjects that the user may not publish: the number of the newest message of each. */
  async function storedOfOthers(user: BusUser): Promise<Map<string, number>> {
    const { streams: api } = await nats.admin.jetstreamManager();
    // A stream stores in the order of arrival: what was sent before this is in it, or never will be.
    const markers = ['evt.marker', ...bucketNames.map((bucket) => `$KV.${bucket}.marker`)];
    for (const marker of markers) await nats.admin.jetstream().publish(marker);
    const newest = new Map<string, number>();
    for (const name of streams) {
      const { state } = await api.info(name, { subjects_filter: '>' });
      for (const subject of Object.keys(state.subjects ?? {})) {
        if (ofUser(user, subject) || markers.includes(subject)) continue;
        newest.set(subject, (await api.getMessage(name, { last_by_subj: subject })).seq);
      }
    }
    return newest;
  }

  /** Each request that the user may make, with bodies that each get an answer of another kind. */
  const requestsOf = (user: BusUser): [subject: string, body: string][] =>
    permissionsOf(user).publish.flatMap((allowed) => {
      const subject = allowed.replace(/\*$/, 'ETH').replace(/>$/, '1.1.1.1.0');
      // With an empty body the provisioner would delete a durable.
      const bodies = subject.includes('.CONSUMER.DELETE.') ? ['{'] : ['', '{', '{}'];
      const pulls = [
        '{"batch":1,"no_wait":true}',
        '{"batch":1,"expires":50000000}',
        '{"batch":1,"expires":500000000,"idle_heartbeat":100000000}',
      ];
      return [...bodies, ...(subject.includes('.MSG.NEXT.') ? pulls : [])].map((body): [string, string] => [
        subject,
        body,
      ]);
    });

  test('two services together store no event in the name of a third', async () => {
    const before = await storedOfOthers('payouts');
    const [asking, answering] = [await nats.login('payouts'), await nats.login('ledger')];
    const answered = Promise.withResolvers<void>();
    answering.subscribe(commandSubject('hold.place'), {
      callback: (_error, message) => {
        message.respond(JSON.stringify(aDeposit()));
        answered.resolve();
      },
    });
    await answering.flush();
    asking.publish(commandSubject('hold.place'), '{}', { reply: 'evt.invoices.ledger.deposit.settled' });
    await answered.promise;
    await answering.flush();
    expect(await storedOfOthers('payouts')).toEqual(before);
    await Promise.all([asking.close(), answering.close()]);
  });

  test.each(busUsers)('no answer that %s asks for is stored under another’s subject', async (user) => {
    for (const bucket of bucketNames)
      await (await nats.busOf(buckets[bucket].writtenBy).kv(bucket)).put('ETH', 'kept');
    for (const command of commandNames)
      nats.busOf(commands[command].by).answer(commandSubject(command), async () => ({}));
    const victims = [
      ...kinds.flatMap((kind) => events[kind].to.map((to) => subjectOf(kind, to))),
      ...bucketNames.map((bucket) => `$KV.${bucket}.ETH`),
      '$JS.API.STREAM.PURGE.KV_quotes',
    ].filter((subject) => !ofUser(user, subject));
    const before = await storedOfOthers(user);
    const evil = await nats.login(user);
    const asked = requestsOf(user).map(async ([subject, body]) => {
      for (const reply of victims) evil.publish(subject, body, { reply });
      // The server works in order: what answers this one has answered the others as well.
      await evil.request(subject, body, { timeout: ANSWERED_WITHIN_MS }).catch(() => undefined);
    });
    await Promise.all(asked);
    await evil.close();
    expect(await storedOfOthers(user)).toEqual(before);
  });
});
