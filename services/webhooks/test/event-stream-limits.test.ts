import { IncomingMessage, request, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { identityOf } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { createEventStreams, streamLimits } from '../src/event-streams.ts';
import { eventsForFollowers } from '../src/store/events.ts';
import { numbers, openStreamFixture, upTo } from './event-stream-fixture.ts';
import { anAccount, anEvent, withHook } from './fixture.ts';

const { database, db, clock, ports, receive, receiveMany, serveStreams, read } = await openStreamFixture();

test('the streams of an account and of a replica are limited, and a stream that ends makes room', async () => {
  const server = await serveStreams({ perAccount: 2, perReplica: 3 });
  const account = anAccount();
  const [first] = await Promise.all([read(server, account), read(server, account)]);
  const third = await read(server, account);
  await third.ended;
  expect([third.answer.statusCode, third.answer.headers['retry-after']]).toEqual([429, '5']);
  expect(JSON.parse(third.text())).toEqual(
    expect.objectContaining({ message: expect.stringContaining('streams') }),
  );
  expect((await read(server, anAccount())).answer.statusCode).toBe(200);
  const fourth = await read(server, anAccount());
  expect([fourth.answer.statusCode, fourth.answer.headers['retry-after']]).toEqual([503, '5']);
  first?.leave();
  await eventually(async () => expect((await read(server, account)).answer.statusCode).toBe(200));
});

test('a client that disconnects before its stream begins does not count', async () => {
  const looked = Promise.withResolvers<void>();
  let looking = 0;
  let answered = 0;
  const waiting = withHook(db, async (name) => {
    if (name !== 'account_last_sequences') return;
    looking += 1;
    await looked.promise;
  });
  const debug = (_: object, message: string) => {
    if (message === 'answered a request') answered += 1;
  };
  const logger = Object.assign(Object.create(ports.logger), { debug }) as typeof ports.logger;
  const server = await serveStreams({ perAccount: 2 }, { db: waiting, logger });
  const account = anAccount();
  const path = '/api/events/stream';
  const headers = identityOf(account, { method: 'GET', path, now: clock.now() });
  const leaving = [1, 2].map(() =>
    request({ host: '127.0.0.1', port: server.port, path, headers, agent: false })
      .on('error', () => undefined)
      .end(),
  );
  await eventually(() => expect(looking).toBe(2));
  for (const client of leaving) client.destroy();
  await eventually(() => expect(answered).toBe(2));
  looked.resolve();
  expect((await read(server, account)).answer.statusCode).toBe(200);
});

test('a stop ends all streams at once and opens no more', async () => {
  const server = await serveStreams();
  const open = await Promise.all([read(server, anAccount()), read(server, anAccount())]);
  const begun = performance.now();
  await server.streams.close();
  expect(await Promise.all(open.map(({ ended }) => ended))).toEqual(['whole', 'whole']);
  expect((await read(server, anAccount())).answer.statusCode).toBe(503);
  expect(performance.now() - begun).toBeLessThan(6_000);
});

test('a client that does not read is disconnected, delays no other and uses little memory', async () => {
  const server = await serveStreams({ stuckMs: 1_500, perAccount: 2 });
  const account = anAccount();
  const data = { note: 'x'.repeat(100_000) };
  for (let i = 0; i < 15; i++) {
    await receive(...Array.from({ length: 10 }, () => anEvent({ account, data })));
  }
  const stuck = await read(server, account, '?after=0');
  stuck.answer.pause();
  const reader = await read(server, account, '?after=140');
  await eventually(() =>
    expect(reader.text().endsWith('\n\n') && reader.text().includes('id: 150\n')).toBe(true),
  );
  expect(numbers(reader)).toEqual(upTo(150, 141));
  // Its place is free as soon as it is disconnected.
  await eventually(async () => expect((await read(server, account)).answer.statusCode).toBe(200));
  stuck.answer.resume();
  expect(await stuck.ended).toBe('broken off');
  // No more was read for it than the socket buffers hold.
  expect(numbers(stuck).length).toBeLessThan(150);
  expect(numbers(stuck)).toEqual(upTo(numbers(stuck).length));
  await receiveMany(account, 1);
  await eventually(() => expect(reader.text().includes('id: 151\n')).toBe(true));
});

test('a client that does not read the end of its stream is disconnected', async () => {
  const streams = createEventStreams(ports, {
    ...streamLimits,
    ...{ perAccount: 1, lookEveryMs: 50, lastsMs: 200, stuckMs: 400 },
  });
  // The client reads nothing, and everything that is written fits into the buffer.
  const stuck = new ServerResponse(new IncomingMessage(new Socket()));
  const account = anAccount();
  const follower = { account, after: '0', eventTypes: null };
  expect(streams.open(stuck, follower)).toBeUndefined();
  await eventually(() => expect(stuck.writableEnded).toBe(true));
  expect(streams.open(stuck, follower)).toBe('too_many_of_account');
  await eventually(() => expect(stuck.destroyed).toBe(true), 10_000);
  const next = new ServerResponse(new IncomingMessage(new Socket()));
  expect(streams.open(next, follower)).toBeUndefined();
  next.destroy();
  await streams.close();
});

test('events of a rare type are found among 300,000 others without delaying other accounts', async () => {
  const [account, other] = [anAccount(), anAccount()];
  await receive(anEvent({ account, kind: 'invoice.paid' }));
  const admin = database.openAsAdmin('webhooks', {
    ...{ pool: 1, answerWithinMs: 120_000, settings: { statement_timeout: '120s' } },
  });
  await admin.rows(
    `insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
     select $1, n, $1 || n, 'invoice.created', now(), 'inv_1', 1, '{"id":"inv_1"}' from generate_series(2, 300000) n`,
    [account],
  );
  await admin.rows('update accounts set last_sequence = 300000 where account_id = $1', [account]);
  await admin.rows('analyze events');
  await receive(anEvent({ account, kind: 'payout.failed' }));

  const all = Array.from({ length: 10 }, () => ({
    account,
    after: '0',
    eventTypes: ['payout.failed', 'invoice.paid', 'payout.failed', 'invoice.late_payment'],
  }));
  const asked: { text: string; values: readonly unknown[] }[] = [];
  const noting = withHook(db, (_, values, text) => void asked.push({ text, values }));
  const pages = await eventsForFollowers(
    noting,
    [...all, { account, after: '299999', eventTypes: null }],
    32,
  );
  const numbersIn = (page: (typeof pages)[number] | undefined) =>
    page?.events.map(({ sequence }) => sequence);
  for (const page of pages.slice(0, 10)) expect(numbersIn(page)).toEqual(['1', '300001']);
  expect(numbersIn(pages[10])).toEqual(['300000', '300001']);
  expect(asked).toHaveLength(1);
  for (const { text, values } of asked) {
    const explained = await db.one<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) ${text}`,
      values,
    );
    // Each of eleven followers finds two, by their numbers and once more by what they are.
    expect(rowsReadOf(explained['QUERY PLAN'][0].Plan)).toBeLessThan(200);
  }

  const server = await serveStreams();
  const [rare, its] = await Promise.all([
    read(server, account, '?after=0&kinds=payout.failed'),
    read(server, other, '?after=0'),
  ]);
  await receiveMany(other, 1);
  await eventually(() => expect([rare, its].map(numbers)).toEqual([[300_001], [1]]), 10_000);
});

type PlanNode = {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
};

/** How many rows of the log Postgres has read. */
function rowsReadOf(node: PlanNode): number {
  const each = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  const own = node['Relation Name'] === 'events' ? each * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, part) => sum + rowsReadOf(part), own);
}

test('an account whose events cannot be read delays no other account', async () => {
  const [broken, ...others] = Array.from({ length: 5 }, anAccount) as [AccountId, ...AccountId[]];
  const failing = withHook(db, (name, [accounts]) => {
    if (name === 'events_for_followers' && (accounts as AccountId[]).includes(broken))
      throw new Error('cannot be read');
  });
  const server = await serveStreams({}, { db: failing });
  const [its] = await Promise.all([read(server, broken), read(server, broken)]);
  const open = await Promise.all(others.map((account) => read(server, account)));
  await receive(...[broken, ...others].map((account) => anEvent({ account })));
  await eventually(() => {
    for (const reading of open) expect(numbers(reading)).toEqual([1]);
  });
  expect(its && numbers(its)).toEqual([]);
  await receive(...others.map((account) => anEvent({ account })));
  await eventually(() => {
    for (const reading of open) expect(numbers(reading)).toEqual([1, 2]);
  }, 10_000);
});
