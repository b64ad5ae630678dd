import { expect, test } from '@jest/globals';
import type { Db, Statement } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { deleteEndpoint } from '../src/operations/endpoints.ts';
import { pruneOldEvents } from '../src/operations/prune.ts';
import { pruneDeliveriesOfDeleted, pruneEvents } from '../src/store/pruning.ts';
import { anAccount, anEvent, daysAgo, openFixture } from './fixture.ts';

const fixture = await openFixture();
const { database, db, ports, call, receive, pageOf, anEndpoint, deliverAll, deliveriesOf } = fixture;
const { aShop, arrivedAt } = fixture;
const admin = database.openAsAdmin('webhooks', { pool: 2 });

const happened = (account: AccountId, days: number) => anEvent({ account, at: daysAgo(days) });
const sequencesOf = async (sql: string, id: string): Promise<string[]> =>
  (await db.rows<{ sequence: string }>(`${sql} order by sequence`, [id])).map(({ sequence }) => sequence);
const eventsOf = (account: AccountId) =>
  sequencesOf('select sequence from events where account_id = $1', account);
const attemptsOf = (key: string) => sequencesOf('select sequence from attempts where endpoint_key = $1', key);

test('events older than 90 days are removed, the oldest first, with their deliveries and attempts, and a page says which is kept first', async () => {
  const [account, other] = [anAccount(), anAccount()];
  const { key } = await anEndpoint(account, '/old');
  await receive(...[120, 91, 89, 0].map((days) => happened(account, days)), happened(other, 89));
  await deliverAll();
  expect(await attemptsOf(key)).toEqual(['1', '2', '3', '4']);

  expect(await pruneOldEvents(ports)).toBe(2);
  expect(await eventsOf(account)).toEqual(['3', '4']);
  expect((await deliveriesOf(key)).map(({ sequence }) => sequence)).toEqual(['3', '4']);
  expect(await attemptsOf(key)).toEqual(['3', '4']);
  const { body } = await call('GET', '/api/events', account);
  expect(body.data.map(({ sequence }: { sequence: number }) => sequence)).toEqual([3, 4]);
  expect(body.meta).toEqual({ has_more: false, next_after: 4, first_sequence: 3, last_sequence: 4 });
  expect(await eventsOf(other)).toEqual(['1']);
  expect(await pruneOldEvents(ports)).toBe(0);

  // The sequence continues.
  await receive(happened(account, 0));
  expect(await eventsOf(account)).toEqual(['3', '4', '5']);
});

test('an old event after a younger one is kept, so that the log has no gap', async () => {
  const account = anAccount();
  await receive(...[100, 80, 100].map((days) => happened(account, days)));
  await pruneOldEvents(ports);
  expect(await eventsOf(account)).toEqual(['2', '3']);
});

test('when all events of an account are removed, its next event has the next number', async () => {
  const account = anAccount();
  await receive(happened(account, 100), happened(account, 95));
  await pruneOldEvents(ports);
  expect(await eventsOf(account)).toEqual([]);
  expect(await pageOf(account)).toMatchObject({ firstSequence: '3', lastSequence: '2' });
  await receive(happened(account, 0));
  expect(await eventsOf(account)).toEqual(['3']);
});

test('events that are still to be delivered are kept, and all later ones', async () => {
  const { account, key } = await aShop('/late');
  await receive(...[100, 99, 98].map((days) => happened(account, days)));
  const toOthers = `update deliveries set state = 'delivered' where endpoint_key = $1 and sequence <> 2`;
  await admin.rows(toOthers, [key]);
  await pruneOldEvents(ports);
  expect(await eventsOf(account)).toEqual(['2', '3']);
  await deliverAll();
  await pruneOldEvents(ports);
  expect(await eventsOf(account)).toEqual([]);
  expect(arrivedAt('/late')).toHaveLength(1);
});

test('a thousand events are removed in small batches, and new events of the account are recorded between them', async () => {
  const { account, key } = await aShop('/many');
  await admin.rows(
    `insert into accounts (account_id, last_sequence) values ($1, 1000)
     on conflict (account_id) do update set last_sequence = 1000`,
    [account],
  );
  await admin.rows(
    `insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
     select $1, n, $1 || n, 'invoice.created', now() - interval '100 days', 'inv_1', 1, '{}'
     from generate_series(1, 1000) n`,
    [account],
  );
  await admin.rows(
    `insert into deliveries (endpoint_key, sequence, state, due_at, attempts)
     select $1, n, 'delivered', now(), 1 from generate_series(1, 1000) n`,
    [key],
  );
  const left: number[] = [];
  // A pruning that were one transaction would keep the account locked, and the event would wait for it for ever.
  const between: Db = {
    ...db,
    async one<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
      const row = await db.one<T>(sql, values);
      if ((sql as Statement).name === 'events_prune' && values[0] === account) {
        left.push((await eventsOf(account)).length - left.length);
        await receive(happened(account, 0));
      }
      return row;
    },
  };
  expect(await pruneOldEvents({ ...ports, db: between })).toBe(1_000);
  expect(left).toEqual([800, 600, 400, 200, 0, 0]);
  expect(await eventsOf(account)).toEqual(left.map((_, i) => String(1_001 + i)));
});

test('two replicas that prune at the same time remove each event once', async () => {
  const account = anAccount();
  await receive(...Array.from({ length: 500 }, () => happened(account, 91)), happened(account, 0));
  const removed = await Promise.all([pruneOldEvents(ports), pruneOldEvents(ports)]);
  expect(removed[0] + removed[1]).toBe(500);
  expect(await eventsOf(account)).toEqual(['501']);
});

test('a deleted endpoint is removed with its last delivery, or within hours without deliveries', async () => {
  const account = anAccount();
  const [used, unused, fresh] = [
    await anEndpoint(account, '/used'),
    await anEndpoint(account, '/unused'),
    await anEndpoint(account, '/new'),
  ];
  await receive(...[100, 80].map((days) => happened(account, days)));
  await deliverAll();
  for (const { id } of [used, unused, fresh]) await deleteEndpoint(ports, account, id);
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
    const rows = await db.rows<{ key: string }>('select key from endpoints where account_id = $1', [account]);
    return new Set(rows.map(({ key }) => key));
  };
  // An endpoint that is not deleted is kept.
  const live = await anEndpoint(account, '/live');
  await admin.rows(`update endpoints set created_at = now() - interval '1 year' where key = $1`, [live.key]);

  await pruneOldEvents(ports);
  expect(await left()).toEqual(new Set([used.key, fresh.key, live.key]));
  await admin.rows(`update events set created_at = now() - interval '91 days' where account_id = $1`, [
    account,
  ]);
  await pruneOldEvents(ports);
  expect(await left()).toEqual(new Set([fresh.key, live.key]));
  expect(await attemptsOf(used.key)).toEqual([]);
});

test('an account whose events cannot be removed does not stop the pruning of others', async () => {
  const accounts = Array.from({ length: 3 }, anAccount).toSorted();
  await receive(...accounts.map((account) => happened(account, 91)));
  const [, broken] = accounts;
  const failing: Db = {
    ...db,
    async one<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
      if (values[0] === broken) throw new Error('cannot be removed');
      return await db.one<T>(sql, values);
    },
  };
  expect(await pruneOldEvents({ ...ports, db: failing })).toBe(2);
  expect(await Promise.all(accounts.map(eventsOf))).toEqual([[], ['1'], []]);
});

test('deliveries of a deleted endpoint that an earlier release cancelled untried are removed, and tried ones are kept', async () => {
  const account = anAccount();
  const deleted = await anEndpoint(account, '/earlier');
  const live = await anEndpoint(account, '/live-still');
  await receive(...Array.from({ length: 3 }, () => happened(account, 1)));
  await deleteEndpoint(ports, account, deleted.id);
  await admin.rows(
    `update deliveries set state = 'cancelled', attempts = case when sequence = 2 then 1 else 0 end
     where endpoint_key = any($1::bigint[])`,
    [[deleted.key, live.key]],
  );
  await admin.rows('update endpoints set has_deliveries_to_cancel = false where key = $1', [deleted.key]);
  await pruneOldEvents(ports);
  expect((await deliveriesOf(deleted.key)).map(({ sequence }) => sequence)).toEqual(['2']);
  expect(await deliveriesOf(live.key)).toHaveLength(3);
});

test('a batch of `prune_events` has an upper limit', async () => {
  const account = anAccount();
  await receive(...Array.from({ length: 1_100 }, () => happened(account, 91)));
  expect(await pruneEvents(db, account, 1_000_000)).toBe(1_000);
  const [{ pruned } = {}] = await db.rows('select prune_events($1, null) as pruned', [account]);
  expect(pruned).toBe(100);
});

test('the service’s role may delete nothing, and `prune_events` removes nothing young', async () => {
  const account = anAccount();
  await receive(happened(account, 89));
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
    await expect(db.rows(sql)).rejects.toMatchObject({ code: '42501' });
  }
  expect(await pruneEvents(db, account, 1_000)).toBe(0);
  expect(await eventsOf(account)).toEqual(['1']);
  // Waiting deliveries of an endpoint that is not deleted are kept as well.
  const { key } = await anEndpoint(account, '/not-deleted');
  await receive(happened(account, 0));
  expect(await pruneDeliveriesOfDeleted(db, key, 1_000)).toBe(0);
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'waiting' }]);
});
