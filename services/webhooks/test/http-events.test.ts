import { expect, test } from '@jest/globals';
import { pruneOldEvents } from '../src/operations/prune.ts';
import { type Answered, anAccount, anEvent, daysAgo, invalid, openFixture, withHook } from './fixture.ts';

const { db, ports, call, receive, pageOf } = await openFixture();

const isoDaysAgo = (days: number) => daysAgo(days).toISOString();
const sequencesOf = ({ body }: Answered): number[] =>
  body.data.map((event: { sequence: number }) => event.sequence);

test('pages of events are in order and say where the next page starts', async () => {
  const account = anAccount();
  const events = Array.from({ length: 5 }, () => anEvent({ account }));
  await receive(...events, anEvent());
  await receive(anEvent({ account, kind: 'payout.failed', resource: '77' }));
  const all = await call('GET', '/api/events', account);
  expect(sequencesOf(all)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(all.body.data.slice(0, 5).map((event: { id: string }) => event.id)).toEqual(
    events.map(({ id }) => id),
  );
  expect(all.body.meta).toEqual({ has_more: false, next_after: 6, first_sequence: 1, last_sequence: 6 });
  const some = await call('GET', '/api/events?after=1&limit=2', account);
  expect(sequencesOf(some)).toEqual([2, 3]);
  expect(some.body.meta).toEqual({ has_more: true, next_after: 3, first_sequence: 1, last_sequence: 6 });
  const none = await call('GET', '/api/events?kinds=invoice.paid', account);
  expect(none.body).toEqual({
    data: [],
    meta: { has_more: false, next_after: 6, first_sequence: 1, last_sequence: 6 },
  });
  const one = await call('GET', '/api/events?kinds=invoice.paid,payout.failed&kinds=payout.failed', account);
  expect(one.status).toBe(422);
  const named = await call('GET', '/api/events?kinds=invoice.paid,payout.failed', account);
  expect(sequencesOf(named)).toEqual([6]);
  const repeated = await call('GET', '/api/events?kinds=invoice.paid&kinds=payout.failed', account);
  expect(repeated.body).toEqual(named.body);
  const beyond = await call('GET', '/api/events?after=100', account);
  expect(beyond).toMatchObject({
    status: 422,
    body: {
      errors: { after: ['The after must not be greater than 6.'] },
      hint: 'The last event of the account has the sequence 6: give 6 or less.',
    },
  });
  const last = await call('GET', '/api/events?after=6', account);
  expect(last.body).toEqual({ data: [], meta: { ...none.body.meta } });
  const fresh = { has_more: false, next_after: 0, first_sequence: 1, last_sequence: 0 };
  expect((await call('GET', '/api/events', anAccount())).body).toEqual({ data: [], meta: fresh });
});

const ENDS_BEFORE_IT_BEGINS = 'The created to must be a date after or equal to created from.';

test.each<[string, Record<string, string[]>]>([
  ['after=-1', { after: ['The after must be at least 0.'] }],
  ['after=x', { after: ['The after must be an integer.'] }],
  ['limit=0', { limit: ['The limit must be at least 1.'] }],
  ['created_from=2026-02-01&created_to=2026-01-01', { created_to: [ENDS_BEFORE_IT_BEGINS] }],
  ['limit=501', { limit: ['The limit must not be greater than 500.'] }],
  ['created_from=yesterday', { created_from: ['The created from is not a valid date.'] }],
  ['created_to=2026-02-31', { created_to: ['The created to is not a valid date.'] }],
  ['kinds=invoice.paid,nothing', { 'kinds.1': ['The selected kinds.1 is invalid.'] }],
])('events?%s is refused', async (query, errors) => {
  expect(await call('GET', `/api/events?${query}`, anAccount())).toEqual(invalid(errors));
});

test('an event is read as it is delivered, and another account’s event is forbidden', async () => {
  const account = anAccount();
  const event = anEvent({ account, data: { amount: '1.5' } });
  await receive(event);
  expect((await call('GET', `/api/events/${event.id}`, account)).body).toEqual({
    id: event.id,
    event: 'invoice.created',
    created_at: event.created_at,
    sequence: 1,
    version: 1,
    data: { amount: '1.5' },
  });
  expect((await call('GET', `/api/events/${event.id}`, anAccount())).status).toBe(403);
  expect(await call('GET', '/api/events/evt_0', account)).toEqual({
    status: 404,
    body: expect.objectContaining({ message: 'No query results for model [Event].' }),
  });
});

test('events are filtered by a time range that excludes its end', async () => {
  const account = anAccount();
  const days = [4, 3, 2, 1];
  await receive(...days.map((ago) => anEvent({ account, at: daysAgo(ago) })));
  const sequences = async (query: string) => {
    const page = await call('GET', `/api/events?${query}`, account);
    return [sequencesOf(page), page.body.meta.next_after];
  };
  const third = (await call('GET', '/api/events?after=2&limit=1', account)).body.data[0].created_at;
  expect(await sequences(`created_from=${isoDaysAgo(3.5)}`)).toEqual([[2, 3, 4], 4]);
  expect(await sequences(`created_to=${isoDaysAgo(1.5)}&limit=2`)).toEqual([[1, 2], 2]);
  expect(await sequences(`created_from=${third}`)).toEqual([[3, 4], 4]);
  expect(await sequences(`created_to=${third}`)).toEqual([[1, 2], 2]);
  expect(await sequences(`created_from=${isoDaysAgo(3.5)}&created_to=${isoDaysAgo(1.5)}&after=2`)).toEqual([
    [3],
    3,
  ]);
  // A reader that reads up to one time and later up to another misses nothing.
  expect(await sequences(`created_to=${isoDaysAgo(5)}`)).toEqual([[], 0]);
  expect(await sequences(`created_to=${isoDaysAgo(2.5)}&kinds=payout.failed`)).toEqual([[], 0]);
  expect(await sequences(`created_to=${isoDaysAgo(0)}&after=2`)).toEqual([[3, 4], 4]);
});

test.each([
  ['all of them', {}],
  ['of a kind', { eventTypes: ['invoice.created'] }],
  ['of a span of time', { from: new Date(0) }],
])('events that are pruned while a page is read are missing at its beginning: %s', async (_, filter) => {
  const account = anAccount();
  await receive(...[92, 91, 1].map((ago) => anEvent({ account, at: daysAgo(ago) })));
  const pruning = withHook(db, (name) =>
    name === 'account_last_sequences' ? undefined : pruneOldEvents(ports),
  );
  const { events, ...meta } = await pageOf(account, filter, { db: pruning });
  expect(events.map(({ sequence }) => sequence)).toEqual(['3']);
  expect(meta).toEqual({ hasMore: false, nextAfter: '3', firstSequence: '3', lastSequence: '3' });
});
