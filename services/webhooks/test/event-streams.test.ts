import { expect, test } from '@jest/globals';
import { sleep } from '@quittance/shared/clock';
import { eventually } from '@quittance/testkit/eventually';
import { pruneOldEvents } from '../src/operations/prune.ts';
import { numbers, openStreamFixture, upTo } from './event-stream-fixture.ts';
import { anAccount, anEvent, daysAgo, withHook } from './fixture.ts';

const { db, ports, call, receive, receiveMany, serveStreams, read } = await openStreamFixture();

test('a streamed event has the body of its webhook, its sequence number as id and its event type as name', async () => {
  const server = await serveStreams();
  const account = anAccount();
  const reading = await read(server, account);
  expect(reading.answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
  });
  const event = anEvent({ account, kind: 'invoice.paid', version: 3, data: { note: 'a\nb' } });
  await receive(event, anEvent());
  const body = `{"id":"${event.id}","event":"invoice.paid","created_at":"${event.created_at}","sequence":1,"version":3,"data":{"note":"a\\nb"}}`;
  await eventually(() =>
    expect(reading.text()).toBe(`retry: 3000\nid: 0\n\nid: 1\nevent: invoice.paid\ndata: ${body}\n\n`),
  );
});

test('a stream starts at the client’s last event: by its header, then by `after`, then now', async () => {
  const server = await serveStreams();
  const account = anAccount();
  await receiveMany(account, 5);
  const [now, after, header] = await Promise.all([
    read(server, account),
    read(server, account, '?after=3'),
    read(server, account, '?after=1', { lastEventId: '4' }),
  ]);
  await receiveMany(account, 1);
  await eventually(() => expect([now, after, header].map(numbers)).toEqual([[6], [4, 5, 6], [5, 6]]));
  expect(now.text()).toMatch(/^retry: 3000\nid: 5\n\n/);
});

test('events of other types are not sent, and heartbeats report them as read', async () => {
  const server = await serveStreams({ beatEveryMs: 200 });
  const account = anAccount();
  const reading = await read(server, account, '?kinds=invoice.paid,payout.failed');
  await receiveMany(account, 40);
  await receive(anEvent({ account, kind: 'invoice.paid' }), anEvent({ account }));
  await eventually(() => expect(numbers(reading)).toEqual([41]));
  // A client that is disconnected now reconnects here.
  await eventually(() => expect(reading.text()).toMatch(/:\nid: 42\n\n(:\n\n){2,}$/));
});

test('a client catches up after a long absence in order, page by page, while new events are stored', async () => {
  const server = await serveStreams();
  const account = anAccount();
  for (let i = 0; i < 10; i++) await receiveMany(account, 100);
  const reading = await read(server, account, '?after=0');
  for (let i = 0; i < 10; i++) await receiveMany(account, 20);
  await eventually(() => expect(numbers(reading)).toEqual(upTo(1_200)));
});

test('a page of any size is followed by the next one without a pause', async () => {
  const server = await serveStreams();
  const account = anAccount();
  for (const size of [1_990, 2_040, 4_000, 9_000, 33_000, 64_000]) {
    await receive(
      ...Array.from({ length: 32 }, () => anEvent({ account, data: { note: 'x'.repeat(size) } })),
    );
  }
  const reading = await read(server, account, '?after=0');
  // A text of megabytes that an assertion would show each time.
  await eventually(() => expect(reading.text().includes('id: 192\n')).toBe(true));
  expect(numbers(reading)).toEqual(upTo(192));
});

test('each of many streams receives all events of its own account', async () => {
  const server = await serveStreams();
  const accounts = Array.from({ length: 30 }, anAccount);
  const open = await Promise.all(
    accounts.flatMap((account) => Array.from({ length: 4 }, () => read(server, account))),
  );
  for (let i = 0; i < 5; i++) {
    await receive(
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
  const server = await serveStreams({ lookEveryMs: 60_000 });
  const account = anAccount();
  const reading = await read(server, account);
  await sleep(100);
  await receiveMany(account, 1);
  server.streams.wake();
  await eventually(() => expect(numbers(reading)).toEqual([1]), 10_000);
});

test('a stream ends with a complete event after its time, and the next one continues there', async () => {
  const server = await serveStreams({ lastsMs: 300 });
  const account = anAccount();
  await receiveMany(account, 2);
  const reading = await read(server, account, '?after=1');
  expect(await reading.ended).toBe('whole');
  expect(numbers(reading)).toEqual([2]);
});

test('a client that reconnects after its events were pruned receives a gap', async () => {
  const server = await serveStreams();
  const account = anAccount();
  await receive(...[93, 92, 91, 1].map((days) => anEvent({ account, at: daysAgo(days) })));
  await pruneOldEvents(ports);
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
  await receive(...[93, 92, 1].map((days) => anEvent({ account, at: daysAgo(days) })));
  const pruning = withHook(db, (name) =>
    name === 'events_for_followers' ? pruneOldEvents(ports) : undefined,
  );
  const server = await serveStreams({}, { db: pruning });
  const [all, rare] = await Promise.all([
    read(server, account, '?after=0'),
    read(server, account, '?after=1&kinds=invoice.paid'),
  ]);
  const gap = (after: number) => `id: 2\nevent: gap\ndata: {"after":${after},"first_sequence":3}\n\n`;
  await eventually(() => expect(all.text().startsWith(`retry: 3000\nid: 0\n\n${gap(0)}id: 3\n`)).toBe(true));
  await eventually(() => expect(rare.text()).toBe(`retry: 3000\nid: 1\n\n${gap(1)}`));
});

test('a path in capitals names neither a stream nor an event', async () => {
  expect((await call('GET', '/api/events/STREAM', anAccount())).status).toBe(404);
});

test('HEAD answers the headers and opens no stream', async () => {
  const server = await serveStreams({ perAccount: 0 });
  const head = await read(server, anAccount(), '', { method: 'HEAD' });
  expect([head.answer.statusCode, await head.ended]).toEqual([200, 'whole']);
  expect(head.answer.headers['content-type']).toMatch(/^text\/event-stream/);
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
  const server = await serveStreams();
  const reading = await read(server, anAccount(), query, lastEventId === undefined ? {} : { lastEventId });
  await reading.ended;
  expect(reading.answer.statusCode).toBe(422);
  expect(JSON.parse(reading.text())).toEqual(
    expect.objectContaining({ message: 'The given data was invalid.', errors }),
  );
});
