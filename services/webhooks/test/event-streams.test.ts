import { IncomingMessage, request, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '@quittance/shared/clock';
import { type Db, openDb, type Statement } from '@quittance/shared/db';
import type { Listening } from '@quittance/shared/http-server';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { readStream, type StreamReading } from '@quittance/testkit/stream-reader';
import { createEventStreams, type EventStreams, streamLimits } from '../src/event-streams.ts';
import { pruneOldEvents } from '../src/operations/prune.ts';
import { eventsForFollowers } from '../src/store/events.ts';
import {
  anAccount,
  anEvent,
  type Fixture,
  IDENTITY_SECRET,
  listenTo,
  openFixture,
  receiveEvents,
} from './fixture.ts';

let fixture: Fixture;
const servers: { listening: Listening; streams: EventStreams }[] = [];
const readings: StreamReading[] = [];

beforeAll(async () => {
  fixture = await openFixture();
});
afterEach(async () => {
  for (const { leave } of readings.splice(0)) leave();
  for (const { listening, streams } of servers.splice(0)) {
    await streams.close();
    await listening.close(0);
  }
});
afterAll(() => fixture?.close());

async function serve(
  limits: Partial<typeof streamLimits> = {},
  ports: Parameters<typeof createEventStreams>[0] = fixture.ports,
): Promise<Listening & { streams: EventStreams }> {
  const streams = createEventStreams(ports, { ...streamLimits, lookEveryMs: 50, ...limits });
  const listening = await listenTo({ ...fixture.ports, ...ports, streams });
  servers.push({ listening, streams });
  return { ...listening, streams };
}

async function read(
  { port }: Listening,
  account: AccountId,
  query = '',
  {
    path = '/api/events/stream',
    method = 'GET',
    lastEventId,
  }: { path?: string; method?: string; lastEventId?: string } = {},
): Promise<StreamReading> {
  const reading = await readStream({
    ...{ port, path: `${path}${query}`, method },
    headers: {
      [IDENTITY_HEADER]: signIdentity(IDENTITY_SECRET, { account }, fixture.clock.now()),
      ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
    },
  });
  readings.push(reading);
  return reading;
}

/** The numbers of the events that came. */
const numbers = ({ text }: StreamReading): number[] =>
  // eslint-disable-next-line no-restricted-syntax -- places in a sequence
  [...text().matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) => Number(id));
const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => from + i);
const many = (account: AccountId, n: number) =>
  receiveEvents(fixture.ports, ...Array.from({ length: n }, () => anEvent({ account })));

test('an event comes as its webhook would have it, named by its number and kind', async () => {
  const server = await serve();
  const account = anAccount();
  const reading = await read(server, account);
  expect(reading.answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
  });
  const event = anEvent({ account, kind: 'invoice.paid', version: 3, data: { note: 'a\nb' } });
  await receiveEvents(fixture.ports, event, anEvent());
  const body = `{"id":"${event.id}","event":"invoice.paid","created_at":"${event.created_at}","sequence":1,"version":3,"data":{"note":"a\\nb"}}`;
  await eventually(() =>
    expect(reading.text()).toBe(`retry: 3000\nid: 0\n\nid: 1\nevent: invoice.paid\ndata: ${body}\n\n`),
  );
});

test('it begins where the client was: by its header, else as it asks, else now', async () => {
  const server = await serve();
  const account = anAccount();
  await many(account, 5);
  const [now, after, header] = await Promise.all([
    read(server, account),
    read(server, account, '?after=3'),
    read(server, account, '?after=1', { lastEventId: '4' }),
  ]);
  await many(account, 1);
  await eventually(() => expect([now, after, header].map(numbers)).toEqual([[6], [4, 5, 6], [5, 6]]));
  expect(now.text()).toMatch(/^retry: 3000\nid: 5\n\n/);
});

test('kinds that were not asked for do not come, but count as seen', async () => {
  const server = await serve({ beatEveryMs: 200 });
  const account = anAccount();
  const reading = await read(server, account, '?kinds=invoice.paid,payout.failed');
  await many(account, 40);
  await receiveEvents(fixture.ports, anEvent({ account, kind: 'invoice.paid' }), anEvent({ account }));
  await eventually(() => expect(numbers(reading)).toEqual([41]));
  // Cut off now, it would come back to here.
  await eventually(() => expect(reading.text()).toMatch(/:\nid: 42\n\n(:\n\n)*$/));
});

test('a long absence is caught up in order, page by page, while more happens', async () => {
  const server = await serve();
  const account = anAccount();
  for (let i = 0; i < 10; i++) await many(account, 100);
  const reading = await read(server, account, '?after=0');
  for (let i = 0; i < 10; i++) await many(account, 20);
  await eventually(() => expect(numbers(reading)).toEqual(upTo(1_200)));
});

test('pages of any size: none is waited for that will never come', async () => {
  const server = await serve();
  const account = anAccount();
  for (const size of [1_990, 2_040, 4_000, 9_000, 33_000, 64_000]) {
    await receiveEvents(
      fixture.ports,
      ...Array.from({ length: 32 }, () => anEvent({ account, data: { note: 'x'.repeat(size) } })),
    );
  }
  const reading = await read(server, account, '?after=0');
  await eventually(() => expect(reading.text()).toContain('id: 192\n'), 20_000);
  expect(numbers(reading)).toEqual(upTo(192));
});

test('many streams of many accounts each get their own, all of it', async () => {
  const server = await serve();
  const accounts = Array.from({ length: 30 }, anAccount);
  const open = await Promise.all(
    accounts.flatMap((account) => Array.from({ length: 4 }, () => read(server, account))),
  );
  for (let i = 0; i < 5; i++) {
    await receiveEvents(
      fixture.ports,
      ...accounts.flatMap((account) => [1, 2].map(() => anEvent({ account, resource: account }))),
    );
  }
  await eventually(() => {
    for (const reading of open) expect(numbers(reading)).toEqual(upTo(10));
  });
  for (const [i, reading] of open.entries()) {
    const told = new Set([...reading.text().matchAll(/"id":"(acc_\w+)"/g)].map(([, id]) => id));
    expect(told).toEqual(new Set([accounts[Math.floor(i / 4)]]));
  }
});

test('who knows that something was stored wakes it: nobody waits for the next look', async () => {
  const server = await serve({ lookEveryMs: 60_000 });
  const account = anAccount();
  const reading = await read(server, account);
  await sleep(100);
  await many(account, 1);
  server.streams.wake();
  await eventually(() => expect(numbers(reading)).toEqual([1]), 10_000);
});

test('a sign of life comes while nothing happens', async () => {
  const server = await serve({ beatEveryMs: 100 });
  const reading = await read(server, anAccount());
  await eventually(() => expect(reading.text().match(/^:\n\n/gm)?.length).toBeGreaterThan(2));
});

test('it ends after its time, whole, and goes on where it was', async () => {
  const server = await serve({ lastsMs: 300 });
  const account = anAccount();
  await many(account, 2);
  const reading = await read(server, account, '?after=1');
  expect(await reading.ended).toBe('whole');
  expect(numbers(reading)).toEqual([2]);
});

test('an account has so many at a time, a replica has so many, and who leaves makes room', async () => {
  const server = await serve({ perAccount: 2, perReplica: 3 });
  const account = anAccount();
  const [first] = await Promise.all([read(server, account), read(server, account)]);
  const third = await read(server, account);
  await third.ended;
  expect([third.answer.statusCode, third.answer.headers['retry-after']]).toEqual([429, '5']);
  expect(JSON.parse(third.text())).toEqual({ message: expect.stringContaining('streams') });
  expect((await read(server, anAccount())).answer.statusCode).toBe(200);
  const fourth = await read(server, anAccount());
  expect([fourth.answer.statusCode, fourth.answer.headers['retry-after']]).toEqual([503, '5']);
  first?.leave();
  await eventually(async () => expect((await read(server, account)).answer.statusCode).toBe(200));
});

test('who leaves before its stream begins takes no place', async () => {
  const looked = Promise.withResolvers<void>();
  let looking = 0;
  let answered = 0;
  const db: Db = {
    ...fixture.db,
    async rows<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
      if (typeof sql === 'object' && sql.name === 'account_sequence_ranges') {
        looking += 1;
        await looked.promise;
      }
      return await fixture.db.rows<T>(sql, values);
    },
  };
  const debug = (_: object, message: string) => {
    if (message === 'answered a request') answered += 1;
  };
  const logger = Object.assign(Object.create(fixture.ports.logger), { debug }) as typeof fixture.ports.logger;
  const server = await serve({ perAccount: 2 }, { db, logger });
  const account = anAccount();
  const headers = { [IDENTITY_HEADER]: signIdentity(IDENTITY_SECRET, { account }, fixture.clock.now()) };
  const leaving = [1, 2].map(() =>
    request({ host: '127.0.0.1', port: server.port, path: '/api/events/stream', headers, agent: false })
      .on('error', () => undefined)
      .end(),
  );
  await eventually(() => expect(looking).toBe(2));
  for (const client of leaving) client.destroy();
  await eventually(() => expect(answered).toBe(2));
  looked.resolve();
  expect((await read(server, account)).answer.statusCode).toBe(200);
});

test('stopping ends all of them at once, and begins none', async () => {
  const server = await serve();
  const open = await Promise.all([read(server, anAccount()), read(server, anAccount())]);
  const begun = performance.now();
  await server.streams.close();
  expect(await Promise.all(open.map(({ ended }) => ended))).toEqual(['whole', 'whole']);
  expect((await read(server, anAccount())).answer.statusCode).toBe(503);
  expect(performance.now() - begun).toBeLessThan(6_000);
});

test('who does not read is dropped; it holds up nobody, and little is kept for it', async () => {
  const server = await serve({ stuckMs: 2_000 });
  const account = anAccount();
  const data = { note: 'x'.repeat(100_000) };
  for (let i = 0; i < 15; i++) {
    await receiveEvents(fixture.ports, ...Array.from({ length: 10 }, () => anEvent({ account, data })));
  }
  const stuck = await read(server, account, '?after=0');
  stuck.answer.pause();
  const reader = await read(server, account, '?after=100');
  await eventually(() =>
    expect(reader.text().endsWith('\n\n') && reader.text().includes('id: 150\n')).toBe(true),
  );
  expect(numbers(reader)).toEqual(upTo(150, 101));
  await sleep(3_000);
  stuck.answer.resume();
  expect(await stuck.ended).toBe('broken off');
  // No more than the sockets between hold was ever read for it.
  expect(numbers(stuck).length).toBeLessThan(150);
  expect(numbers(stuck)).toEqual(upTo(numbers(stuck).length));
  await many(account, 1);
  await eventually(() => expect(reader.text()).toContain('id: 151\n'));
});

test('who ends without taking its last words gives up its place all the same', async () => {
  const streams = createEventStreams(fixture.ports, {
    ...streamLimits,
    ...{ perAccount: 1, lookEveryMs: 50, lastsMs: 200, stuckMs: 400 },
  });
  // The peer is there and reads nothing, and all that is written still goes into the buffer.
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

test('who comes back after longer than events are kept is told what it has missed', async () => {
  const server = await serve();
  const account = anAccount();
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000).toISOString();
  await receiveEvents(
    fixture.ports,
    ...[93, 92, 91, 1].map((days) => ({ ...anEvent({ account }), created_at: daysAgo(days) })),
  );
  await pruneOldEvents(fixture.ports);
  const [late, rare, edge] = await Promise.all([
    read(server, account, '?after=1'),
    read(server, account, '?after=0&kinds=invoice.paid'),
    read(server, account, '?after=3'),
  ]);
  await eventually(() => expect([late, edge].map(numbers)).toEqual([[3, 4], [4]]));
  const gap = (after: number) => `id: 3\nevent: gap\ndata: {"after":${after},"first_sequence":4}\n\n`;
  expect(late.text().startsWith(`retry: 3000\nid: 1\n\n${gap(1)}id: 4\n`)).toBe(true);
  await eventually(() => expect(rare.text()).toBe(`retry: 3000\nid: 0\n\n${gap(0)}`));
  expect(edge.text()).not.toContain('gap');
});

test('what is removed while a page is read is told as missed, in the same answer', async () => {
  const account = anAccount();
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000).toISOString();
  const happened = (days: number) => ({ ...anEvent({ account }), created_at: daysAgo(days) });
  await receiveEvents(fixture.ports, ...[93, 92, 1].map(happened));
  const db: Db = {
    ...fixture.db,
    async rows<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
      if (typeof sql === 'object' && sql.name === 'events_for_followers') await pruneOldEvents(fixture.ports);
      return await fixture.db.rows<T>(sql, values);
    },
  };
  const server = await serve({}, { db, logger: fixture.ports.logger });
  const [all, rare] = await Promise.all([
    read(server, account, '?after=0'),
    read(server, account, '?after=1&kinds=invoice.paid'),
  ]);
  const gap = (after: number) => `id: 2\nevent: gap\ndata: {"after":${after},"first_sequence":3}\n\n`;
  await eventually(() => expect(all.text().startsWith(`retry: 3000\nid: 0\n\n${gap(0)}id: 3\n`)).toBe(true));
  await eventually(() => expect(rare.text()).toBe(`retry: 3000\nid: 1\n\n${gap(1)}`));
});

test('a kind that hardly ever happens is found among 300,000 others, and holds up no other account', async () => {
  const [account, other] = [anAccount(), anAccount()];
  await receiveEvents(fixture.ports, anEvent({ account, kind: 'invoice.paid' }));
  const admin = openDb({
    ...{ url: fixture.database.adminUrl, schema: 'webhooks', pool: 1, answerWithinMs: 120_000 },
    ...{ logger: fixture.ports.logger, settings: { statement_timeout: '120s' } },
  });
  await admin.rows(
    `insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
     select $1, n, $1 || n, 'invoice.created', now(), 'inv_1', 1, '{"id":"inv_1"}' from generate_series(2, 300000) n`,
    [account],
  );
  await admin.rows('update accounts set last_sequence = 300000 where account_id = $1', [account]);
  await admin.rows('analyze events');
  await admin.close();
  await receiveEvents(fixture.ports, anEvent({ account, kind: 'payout.failed' }));

  const all = Array.from({ length: 10 }, () => ({
    account,
    after: '0',
    eventTypes: ['payout.failed', 'invoice.paid', 'payout.failed', 'invoice.late_payment'],
  }));
  const took: number[] = [];
  let pages: Awaited<ReturnType<typeof eventsForFollowers>> = [];
  for (let i = 0; i < 3; i++) {
    const begun = performance.now();
    pages = await eventsForFollowers(
      fixture.db,
      [...all, { account, after: '299999', eventTypes: null }],
      32,
    );
    took.push(performance.now() - begun);
  }
  const numbersIn = (page: (typeof pages)[number] | undefined) =>
    page?.events.map(({ sequence }) => sequence);
  for (const page of pages.slice(0, 10)) expect(numbersIn(page)).toEqual(['1', '300001']);
  expect(numbersIn(pages[10])).toEqual(['300000', '300001']);
  // Through the whole log each takes ten times as long.
  expect(Math.min(...took)).toBeLessThan(100);

  const server = await serve();
  const [rare, its] = await Promise.all([
    read(server, account, '?after=0&kinds=payout.failed'),
    read(server, other, '?after=0'),
  ]);
  await many(other, 1);
  await eventually(() => expect([rare, its].map(numbers)).toEqual([[300_001], [1]]), 10_000);
});

test('an account whose events cannot be read holds up no other', async () => {
  const [broken, ...others] = Array.from({ length: 5 }, anAccount) as [AccountId, ...AccountId[]];
  const db: Db = {
    ...fixture.db,
    async rows<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
      const [accounts] = values as [AccountId[]];
      if (typeof sql === 'object' && sql.name === 'events_for_followers' && accounts.includes(broken))
        throw new Error('cannot be read');
      return await fixture.db.rows<T>(sql, values);
    },
  };
  const server = await serve({}, { db, logger: fixture.ports.logger });
  const [its] = await Promise.all([read(server, broken), read(server, broken)]);
  const open = await Promise.all(others.map((account) => read(server, account)));
  await receiveEvents(fixture.ports, ...[broken, ...others].map((account) => anEvent({ account })));
  await eventually(() => {
    for (const reading of open) expect(numbers(reading)).toEqual([1]);
  });
  expect(its && numbers(its)).toEqual([]);
  await receiveEvents(fixture.ports, ...others.map((account) => anEvent({ account })));
  await eventually(() => {
    for (const reading of open) expect(numbers(reading)).toEqual([1, 2]);
  }, 10_000);
});

test('in capitals it is the name of no stream, and of no event', async () => {
  const server = await serve();
  const reading = await read(server, anAccount(), '', { path: '/api/events/STREAM' });
  expect(reading.answer.statusCode).toBe(404);
});

test('HEAD is answered and ends; it is no stream', async () => {
  const server = await serve({ perAccount: 0 });
  const head = await read(server, anAccount(), '', { method: 'HEAD' });
  expect([head.answer.statusCode, await head.ended]).toEqual([200, 'whole']);
});

test.each([
  ['?after=-1', undefined, { after: ['The after must be at least 0.'] }],
  ['?after=x', undefined, { after: ['The after must be an integer.'] }],
  ['?after=3', 'evt_1', { after: ['The after must be an integer.'] }],
  ['?kinds=invoice.paid,nothing', undefined, { 'kinds.1': ['The selected kinds.1 is invalid.'] }],
  // What is not there yet was never read: the client has the wrong account, or the log has lost its end.
  ['?after=7', undefined, { after: ['The after must not be greater than 0.'] }],
  ['', '7', { after: ['The after must not be greater than 0.'] }],
])('stream%s with Last-Event-ID %s is refused', async (query, lastEventId, errors) => {
  const server = await serve();
  const reading = await read(server, anAccount(), query, lastEventId === undefined ? {} : { lastEventId });
  await reading.ended;
  expect(reading.answer.statusCode).toBe(422);
  expect(JSON.parse(reading.text())).toEqual({ message: 'The given data was invalid.', errors });
});
