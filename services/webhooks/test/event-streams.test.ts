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

/** The sequence numbers of the received events. */
const numbers = ({ text }: StreamReading): number[] =>
  // eslint-disable-next-line no-restricted-syntax -- sequence numbers
  [...text().matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) => Number(id));
const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => from + i);
const many = (account: AccountId, n: number) =>
  receiveEvents(fixture.ports, ...Array.from({ length: n }, () => anEvent({ account })));

test('a streamed event has the body of its webhook, its sequence number as id and its event type as name', async () => {
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

test('a stream starts at the client’s last event: by its header, then by `after`, then now', async () => {
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

test('events of other types are not sent, and heartbeats report them as read', async () => {
  const server = await serve({ beatEveryMs: 200 });
  const account = anAccount();
  const reading = await read(server, account, '?kinds=invoice.paid,payout.failed');
  await many(account, 40);
  await receiveEvents(fixture.ports, anEvent({ account, kind: 'invoice.paid' }), anEvent({ account }));
  await eventually(() => expect(numbers(reading)).toEqual([41]));
  // A client that is disconnected now reconnects here.
  await eventually(() => expect(reading.text()).toMatch(/:\nid: 42\n\n(:\n\n)*$/));
});

test('a client catches up after a long absence in order, page by page, while new events are stored', async () => {
  const server = await serve();
  const account = anAccount();
  for (let i = 0; i < 10; i++) await many(account, 100);
  const reading = await read(server, account, '?after=0');
  for (let i = 0; i < 10; i++) await many(account, 20);
  await eventually(() => expect(numbers(reading)).toEqual(upTo(1_200)));
});

test('a page of any size is followed by the next one without a pause', async () => {
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

test('each of many streams receives all events of its own account', async () => {
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

test('`wake` sends stored events without waiting for the next poll', async () => {
  const server = await serve({ lookEveryMs: 60_000 });
  const account = anAccount();
  const reading = await read(server, account);
  await sleep(100);
  await many(account, 1);
  server.streams.wake();
  await eventually(() => expect(numbers(reading)).toEqual([1]), 10_000);
});

test('a stream sends heartbeats while nothing happens', async () => {
  const server = await serve({ beatEveryMs: 100 });
  const reading = await read(server, anAccount());
  await eventually(() => expect(reading.text().match(/^:\n\n/gm)?.length).toBeGreaterThan(2));
});

test('a stream ends with a complete event after its time, and the next one continues there', async () => {
  const server = await serve({ lastsMs: 300 });
  const account = anAccount();
  await many(account, 2);
  const reading = await read(server, account, '?after=1');
  expect(await reading.ended).toBe('whole');
  expect(numbers(reading)).toEqual([2]);
});

test('the streams of an account and of a replica are limited, and a stream that ends makes room', async () => {
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

test('a client that disconnects before its stream begins does not count', async () => {
  const looked = Promise.withResolvers<void>();
  let looking = 0;
  let answered = 0;
  const db: Db = {
    ...fixture.db,
    async rows<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
      if (typeof sql === 'object' && sql.name === 'account_last_sequences') {
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

test('a stop ends all streams at once and opens no more', async () => {
  const server = await serve();
  const open = await Promise.all([read(server, anAccount()), read(server, anAccount())]);
  const begun = performance.now();
  await server.streams.close();
  expect(await Promise.all(open.map(({ ended }) => ended))).toEqual(['whole', 'whole']);
  expect((await read(server, anAccount())).answer.statusCode).toBe(503);
  expect(performance.now() - begun).toBeLessThan(6_000);
});

test('a client that does not read is disconnected, delays no other and uses little memory', async () => {
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
  // No more was read for it than the socket buffers hold.
  expect(numbers(stuck).length).toBeLessThan(150);
  expect(numbers(stuck)).toEqual(upTo(numbers(stuck).length));
  await many(account, 1);
  await eventually(() => expect(reader.text()).toContain('id: 151\n'));
});

test('a client that does not read the end of its stream is disconnected', async () => {
  const streams = createEventStreams(fixture.ports, {
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

test('a client that reconnects after its events were pruned receives a gap', async () => {
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

test('events that are pruned while a page is read are reported as a gap in that page', async () => {
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

test('events of a rare type are found among 300,000 others without delaying other accounts', async () => {
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
  // Reading the whole log takes ten times as long.
  expect(Math.min(...took)).toBeLessThan(100);

  const server = await serve();
  const [rare, its] = await Promise.all([
    read(server, account, '?after=0&kinds=payout.failed'),
    read(server, other, '?after=0'),
  ]);
  await many(other, 1);
  await eventually(() => expect([rare, its].map(numbers)).toEqual([[300_001], [1]]), 10_000);
});

test('an account whose events cannot be read delays no other account', async () => {
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

test('a path in capitals names neither a stream nor an event', async () => {
  const server = await serve();
  const reading = await read(server, anAccount(), '', { path: '/api/events/STREAM' });
  expect(reading.answer.statusCode).toBe(404);
});

test('HEAD answers the headers and opens no stream', async () => {
  const server = await serve({ perAccount: 0 });
  const head = await read(server, anAccount(), '', { method: 'HEAD' });
  expect([head.answer.statusCode, await head.ended]).toEqual([200, 'whole']);
});

test.each([
  ['?after=-1', undefined, { after: ['The after must be at least 0.'] }],
  ['?after=x', undefined, { after: ['The after must be an integer.'] }],
  ['?after=3', 'evt_1', { after: ['The after must be an integer.'] }],
  ['?kinds=invoice.paid,nothing', undefined, { 'kinds.1': ['The selected kinds.1 is invalid.'] }],
  // A number after the last event was never sent: the client has another account, or the log lost its end.
  ['?after=7', undefined, { after: ['The after must not be greater than 0.'] }],
  ['', '7', { after: ['The after must not be greater than 0.'] }],
])('stream%s with Last-Event-ID %s is refused', async (query, lastEventId, errors) => {
  const server = await serve();
  const reading = await read(server, anAccount(), query, lastEventId === undefined ? {} : { lastEventId });
  await reading.ended;
  expect(reading.answer.statusCode).toBe(422);
  expect(JSON.parse(reading.text())).toEqual({ message: 'The given data was invalid.', errors });
});
