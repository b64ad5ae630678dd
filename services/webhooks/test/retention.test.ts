import { afterAll, expect, test } from '@jest/globals';
import { type Db, openDb, type Statement } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { deleteEndpoint } from '../src/operations/endpoints.ts';
import { listEvents } from '../src/operations/events.ts';
import { pruneOldEvents } from '../src/operations/prune.ts';
import { pruneDeliveriesOfDeleted, pruneEvents } from '../src/store/pruning.ts';
import { anAccount, anEndpoint, anEvent, deliverAll, deliveriesOf, receiveEvents } from './fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

type Made = Awaited<ReturnType<typeof anEndpoint>>;

const DAY = 24 * 3_600_000;

const { fixture, receiver, aShop } = await openReceiverFixture();
const { logger } = fixture.ports;
const admin = openDb({ url: fixture.database.adminUrl, schema: 'webhooks', pool: 2, logger });
afterAll(() => admin.close());

const happened = (account: AccountId, daysAgo: number) => ({
  ...anEvent({ account }),
  created_at: new Date(Date.now() - daysAgo * DAY).toISOString(),
});

const sequencesOf = async (account: AccountId): Promise<string[]> => {
  const rows = await fixture.db.rows<{ sequence: string }>(
    'select sequence from events where account_id = $1 order by sequence',
    [account],
  );
  return rows.map(({ sequence }) => sequence);
};
const logOf = (account: AccountId) =>
  listEvents(fixture.ports, account, { after: 0, eventTypes: null, from: null, to: null, limit: 1 });
const attemptsOf = async (key: string): Promise<string[]> => {
  const rows = await fixture.db.rows<{ sequence: string }>(
    'select sequence from attempts where endpoint_key = $1 order by sequence',
    [key],
  );
  return rows.map(({ sequence }) => sequence);
};

test('events older than 90 days are removed, the oldest first, with their deliveries and attempts', async () => {
  const [account, other] = [anAccount(), anAccount()];
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/old`);
  await receiveEvents(
    fixture.ports,
    ...[120, 91, 89, 0].map((days) => happened(account, days)),
    happened(other, 89),
  );
  await deliverAll(fixture.ports);
  expect(await attemptsOf(key)).toEqual(['1', '2', '3', '4']);

  expect(await pruneOldEvents(fixture.ports)).toBe(2);
  expect(await sequencesOf(account)).toEqual(['3', '4']);
  expect((await deliveriesOf(fixture.db, key)).map(({ sequence }) => sequence)).toEqual(['3', '4']);
  expect(await attemptsOf(key)).toEqual(['3', '4']);
  expect(await logOf(account)).toMatchObject({ firstSequence: '3', lastSequence: '4' });
  expect(await sequencesOf(other)).toEqual(['1']);
  expect(await pruneOldEvents(fixture.ports)).toBe(0);

  // The sequence continues.
  await receiveEvents(fixture.ports, happened(account, 0));
  expect(await sequencesOf(account)).toEqual(['3', '4', '5']);
});

test('an old event after a younger one is kept, so that the log has no gap', async () => {
  const account = anAccount();
  await receiveEvents(fixture.ports, ...[100, 80, 100].map((days) => happened(account, days)));
  await pruneOldEvents(fixture.ports);
  expect(await sequencesOf(account)).toEqual(['2', '3']);
});

test('when all events of an account are removed, its next event has the next number', async () => {
  const account = anAccount();
  await receiveEvents(fixture.ports, happened(account, 100), happened(account, 95));
  await pruneOldEvents(fixture.ports);
  expect(await sequencesOf(account)).toEqual([]);
  expect(await logOf(account)).toMatchObject({ firstSequence: '3', lastSequence: '2' });
  await receiveEvents(fixture.ports, happened(account, 0));
  expect(await sequencesOf(account)).toEqual(['3']);
});

test('events that are still to be delivered are kept, and all later ones', async () => {
  const { account, key } = await aShop('/late');
  await receiveEvents(fixture.ports, ...[100, 99, 98].map((days) => happened(account, days)));
  await admin.rows(`update deliveries set state = 'delivered' where endpoint_key = $1 and sequence <> 2`, [
    key,
  ]);
  await pruneOldEvents(fixture.ports);
  expect(await sequencesOf(account)).toEqual(['2', '3']);
  await deliverAll(fixture.ports);
  await pruneOldEvents(fixture.ports);
  expect(await sequencesOf(account)).toEqual([]);
  expect(receiver.received.filter(({ path }) => path === '/late')).toHaveLength(1);
});

test('thousands of events are removed in small batches that hardly delay new events of the account', async () => {
  const { account, key } = await aShop('/many');
  await admin.rows(
    `insert into accounts (account_id, last_sequence) values ($1, 5000)
     on conflict (account_id) do update set last_sequence = 5000`,
    [account],
  );
  await admin.rows(
    `insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
     select $1, n, $1 || n, 'invoice.created', now() - interval '100 days', 'inv_1', 1, '{}'
     from generate_series(1, 5000) n`,
    [account],
  );
  await admin.rows(
    `insert into deliveries (endpoint_key, sequence, state, due_at, attempts)
     select $1, n, 'delivered', now(), 1 from generate_series(1, 5000) n`,
    [key],
  );
  const waits: number[] = [];
  const forgetting = pruneOldEvents(fixture.ports);
  let done = false;
  void forgetting.then(() => (done = true));
  while (!done) {
    const start = performance.now();
    await receiveEvents(fixture.ports, happened(account, 0));
    waits.push(performance.now() - start);
  }
  expect(await forgetting).toBe(5_000);
  expect(await sequencesOf(account)).toEqual(waits.map((_, i) => String(5_001 + i)));
  expect(waits.length).toBeGreaterThan(5);
  // A busy machine may delay one event. An event that waits for the whole pruning waits as long as the pruning takes.
  expect(waits.filter((ms) => ms >= 1_000).length).toBeLessThanOrEqual(1);
});

test('two replicas that prune at the same time remove each event once', async () => {
  const account = anAccount();
  await receiveEvents(
    fixture.ports,
    ...Array.from({ length: 500 }, () => happened(account, 91)),
    happened(account, 0),
  );
  const removed = await Promise.all([pruneOldEvents(fixture.ports), pruneOldEvents(fixture.ports)]);
  expect(removed[0] + removed[1]).toBe(500);
  expect(await sequencesOf(account)).toEqual(['501']);
});

test('a deleted endpoint is removed with its last delivery, or within hours without deliveries', async () => {
  const account = anAccount();
  const [used, unused, fresh] = (await Promise.all(
    ['/used', '/unused', '/new'].map((path) => anEndpoint(fixture.ports, account, `${receiver.url}${path}`)),
  )) as [Made, Made, Made];
  await receiveEvents(fixture.ports, ...[100, 80].map((days) => happened(account, days)));
  await deliverAll(fixture.ports);
  for (const { id } of [used, unused, fresh]) await deleteEndpoint(fixture.ports, account, id);
  await admin.rows(`delete from attempts where endpoint_key <> $1`, [used.key]);
  await admin.rows(`delete from deliveries where endpoint_key <> $1`, [used.key]);
  await admin.rows('update endpoints set has_deliveries_to_cancel = false where account_id = $1', [account]);
  const deletedFor = (hours: number, { key }: { key: string }) =>
    admin.rows(`update endpoints set deleted_at = now() - $2 * interval '1 hour' where key = $1`, [
      key,
      hours,
    ]);
  await Promise.all([deletedFor(91 * 24, used), deletedFor(2, unused), deletedFor(0, fresh)]);
  const left = async () => {
    const rows = await fixture.db.rows<{ key: string }>('select key from endpoints where account_id = $1', [
      account,
    ]);
    return new Set(rows.map(({ key }) => key));
  };
  // An endpoint that is not deleted is kept.
  const live = await anEndpoint(fixture.ports, account, `${receiver.url}/live`);
  await admin.rows(`update endpoints set created_at = now() - interval '1 year' where key = $1`, [live.key]);

  await pruneOldEvents(fixture.ports);
  expect(await left()).toEqual(new Set([used.key, fresh.key, live.key]));
  await admin.rows(`update events set created_at = now() - interval '91 days' where account_id = $1`, [
    account,
  ]);
  await pruneOldEvents(fixture.ports);
  expect(await left()).toEqual(new Set([fresh.key, live.key]));
  expect(await attemptsOf(used.key)).toEqual([]);
});

test('an account whose events cannot be removed does not stop the pruning of others', async () => {
  const accounts = Array.from({ length: 3 }, anAccount).toSorted();
  await receiveEvents(fixture.ports, ...accounts.map((account) => happened(account, 91)));
  const [, broken] = accounts;
  const db: Db = {
    ...fixture.db,
    async one<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
      if (values[0] === broken) throw new Error('cannot be removed');
      return await fixture.db.one<T>(sql, values);
    },
  };
  expect(await pruneOldEvents({ ...fixture.ports, db })).toBe(2);
  expect(await Promise.all(accounts.map(sequencesOf))).toEqual([[], ['1'], []]);
});

test('deliveries of a deleted endpoint that an earlier release cancelled untried are removed, and tried ones are kept', async () => {
  const account = anAccount();
  const [deleted, live] = await Promise.all([
    anEndpoint(fixture.ports, account, `${receiver.url}/earlier`),
    anEndpoint(fixture.ports, account, `${receiver.url}/live-still`),
  ]);
  await receiveEvents(fixture.ports, ...Array.from({ length: 3 }, () => happened(account, 1)));
  await deleteEndpoint(fixture.ports, account, deleted.id);
  await admin.rows(
    `update deliveries set state = 'cancelled', attempts = case when sequence = 2 then 1 else 0 end
     where endpoint_key = any($1::bigint[])`,
    [[deleted.key, live.key]],
  );
  await admin.rows('update endpoints set has_deliveries_to_cancel = false where key = $1', [deleted.key]);
  await pruneOldEvents(fixture.ports);
  expect((await deliveriesOf(fixture.db, deleted.key)).map(({ sequence }) => sequence)).toEqual(['2']);
  expect(await deliveriesOf(fixture.db, live.key)).toHaveLength(3);
});

test('a batch of `prune_events` has an upper limit', async () => {
  const account = anAccount();
  const events = Array.from({ length: 1_100 }, () => happened(account, 91));
  await receiveEvents(fixture.ports, ...events);
  expect(await pruneEvents(fixture.db, account, 1_000_000)).toBe(1_000);
  const [{ pruned } = {}] = await fixture.db.rows('select prune_events($1, null) as pruned', [account]);
  expect(pruned).toBe(100);
});

test('the service’s role may delete nothing, and `prune_events` removes nothing young', async () => {
  const account = anAccount();
  await receiveEvents(fixture.ports, happened(account, 89));
  for (const sql of [
    'delete from events',
    'delete from deliveries',
    'delete from attempts',
    'update accounts set pruned_through = 1',
    'update events set created_at = now()',
    'update deliveries set sequence = 1',
    'update deliveries set endpoint_key = 1',
    'update endpoint_queues set endpoint_key = 1',
    'update endpoints set account_id = id',
    'update endpoints set created_at = now()',
    'delete from endpoints',
  ]) {
    await expect(fixture.db.rows(sql)).rejects.toMatchObject({ code: '42501' });
  }
  expect(await pruneEvents(fixture.db, account, 1_000)).toBe(0);
  expect(await sequencesOf(account)).toEqual(['1']);
  // Waiting deliveries of an endpoint that is not deleted are kept as well.
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/not-deleted`);
  await receiveEvents(fixture.ports, happened(account, 0));
  expect(await pruneDeliveriesOfDeleted(fixture.db, key, 1_000)).toBe(0);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting' }]);
});
