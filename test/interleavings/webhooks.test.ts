import { expect, it } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import { attemptDelivery, recordAttempts } from '@quittance/webhooks/operations/attempt-delivery';
import {
  type ClaimedDelivery,
  claimDeliveries,
  LEASE_MS,
  takeBackDeliveries,
} from '@quittance/webhooks/operations/claim-deliveries';
import { recordEvents } from '@quittance/webhooks/operations/events';
import type { Ports } from '@quittance/webhooks/ports';
import { pruneEvents } from '@quittance/webhooks/store/pruning';
import { anEvent, openFixture, ROOM } from '../../services/webhooks/test/fixture.ts';
import { type Operation, openInterleaver, returned } from './interleave.ts';

/** An endpoint that has never accepted a delivery has this many attempts in flight at once. */
const CONCURRENCY = 2;

/** Events are kept for 90 days. */
const OLD_MS = 91 * 24 * 3_600_000;

const sender: Ports['sender'] = {
  send: async () => ({ kind: 'answered', status: 200, retryAfter: undefined, excerpt: '' }),
  close: async () => {},
};

const fixture = await openFixture({ sender });
const { database, aShop, receiveMany, deliverAll, deliveriesOf } = fixture;
const replicas = await openInterleaver(database, 'webhooks');
database.finally(replicas.close);

const on = (db: Db): Ports => ({ ...fixture.ports, db });

const claiming = (
  pool: 'fast' | 'slow' = 'slow',
  capacity = ROOM.capacity,
): Operation<ClaimedDelivery[]> => ({
  pausesBefore: ['deliveries_claim', 'commit'],
  run: (db) => claimDeliveries(on(db), { pool, capacity }),
});

const recording = (claimed: readonly ClaimedDelivery[]): Operation<void> => ({
  pausesBefore: ['attempts_record', 'commit'],
  async run(db) {
    await recordAttempts(on(db), await Promise.all(claimed.map((one) => attemptDelivery(on(db), one))));
  },
});

/** An endpoint with this many new deliveries. Replicas claim for their fast pools when it has accepted one before. */
async function aQueue(count: number, { hasAccepted = false } = {}): Promise<{ key: string }> {
  const { account, key } = await aShop('http://shop.example/');
  if (hasAccepted) {
    await receiveMany(account, 1);
    await deliverAll();
  }
  await receiveMany(account, count);
  return { key };
}

const inFlight = async (key: string): Promise<number> =>
  (await deliveriesOf(key)).filter(({ state }) => state === 'sending').length;

/** Everything is delivered in the end, each delivery with one attempt. */
async function expectDeliveredOnce(key: string): Promise<void> {
  await deliverAll();
  const rows = await fixture.db.rows(
    `select count(*)::int as deliveries, count(*) filter (where state = 'delivered' and d.attempts = 1)::int as delivered,
       (select count(*)::int from attempts where endpoint_key = $1) as attempts
     from deliveries d where endpoint_key = $1`,
    [key],
  );
  expect(rows.map(({ deliveries }) => ({ deliveries, delivered: deliveries, attempts: deliveries }))).toEqual(
    rows,
  );
}

const sequencesOf = (...claims: (readonly ClaimedDelivery[])[]) =>
  claims.flatMap((claimed) => claimed.map(({ sequence }) => sequence));

it.each(['slow', 'fast'] as const)(
  'claims each delivery once when two replicas claim a queue for their %s pools',
  async (pool) => {
    await replicas.inEveryOrder(async (interleave) => {
      const { key } = await aQueue(3, { hasAccepted: true });
      const { a, b } = await interleave(claiming(pool, 2), claiming(pool, 2));
      const claimed = sequencesOf(returned(a), returned(b));
      expect(new Set(claimed).size).toBe(claimed.length);
      expect(await inFlight(key)).toBe(claimed.length);
      expect(claimed.length).toBeGreaterThanOrEqual(2);
      for (const own of [returned(a), returned(b)]) if (own.length > 0) await recording(own).run(fixture.db);
      await expectDeliveredOnce(key);
    });
  },
);

it('never has more attempts in flight than an endpoint may have when two replicas claim its queue', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const { key } = await aQueue(CONCURRENCY + 1);
    const { a, b } = await interleave(claiming(), claiming());
    expect(sequencesOf(returned(a), returned(b)).length).toBeLessThanOrEqual(CONCURRENCY);
    expect(await inFlight(key)).toBeLessThanOrEqual(CONCURRENCY);
    for (const own of [returned(a), returned(b)]) if (own.length > 0) await recording(own).run(fixture.db);
    await expectDeliveredOnce(key);
  });
});

it('frees slots and wakes the queue when one replica records attempts while another claims', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const { key } = await aQueue(CONCURRENCY + 1);
    const first = await claiming().run(fixture.db);
    expect(first).toHaveLength(CONCURRENCY);
    const { a, b } = await interleave(recording(first), claiming());
    returned(a);
    const second = returned(b);
    expect(await inFlight(key)).toBe(second.length);
    if (second.length > 0) await recording(second).run(fixture.db);
    // Deliveries that the claim left are due: no other event comes that would wake them.
    await expectDeliveredOnce(key);
  });
});

it('counts both failures when two replicas record attempts at one endpoint', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const { key } = await aQueue(CONCURRENCY);
    const failing = async (): Promise<Operation<void>> => {
      const claimed = await claiming('slow', 1).run(fixture.db);
      expect(claimed).toHaveLength(1);
      const result = { kind: 'answered', status: 500, retryAfter: undefined, excerpt: '' } as const;
      const attempts = claimed.map((delivery) => ({
        delivery,
        startedAt: fixture.clock.now(),
        ms: 1,
        result,
      }));
      return { pausesBefore: ['attempts_record', 'commit'], run: (db) => recordAttempts(on(db), attempts) };
    };
    const { a, b } = await interleave(await failing(), await failing());
    returned(a);
    returned(b);
    expect(
      await fixture.db.one('select consecutive_failures from endpoint_queues where endpoint_key = $1', [key]),
    ).toEqual({ consecutive_failures: 2 });
    await fixture.db.rows('delete from endpoint_queues where endpoint_key = $1', [key]);
  });
});

it('counts a result once when it is recorded while another replica takes the deliveries back', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const { key } = await aQueue(CONCURRENCY);
    const claimed = await claiming().run(fixture.db);
    expect(claimed).toHaveLength(CONCURRENCY);
    fixture.clock.advance(LEASE_MS + 1);
    const { a, b } = await interleave(recording(claimed), {
      pausesBefore: ['deliveries_take_back', 'commit'],
      run: (db) => takeBackDeliveries(on(db)),
    });
    returned(a);
    expect([0, CONCURRENCY]).toContain(returned(b));
    expect(await inFlight(key)).toBe(0);
    await expectDeliveredOnce(key);
  });
});

it('gives a delivery to the newer claim when the results of an old one come after it', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const { key } = await aQueue(CONCURRENCY);
    const old = await claiming().run(fixture.db);
    fixture.clock.advance(LEASE_MS + 1);
    await fixture.takeBack();
    const { a, b } = await interleave(recording(old), claiming());
    returned(a);
    const claimed = returned(b);
    // The old results change nothing. A claim skips a queue that is locked, and comes again.
    expect([0, CONCURRENCY]).toContain(claimed.length);
    expect(await inFlight(key)).toBe(claimed.length);
    if (claimed.length > 0) await recording(claimed).run(fixture.db);
    await expectDeliveredOnce(key);
  });
});

it('numbers an event without a gap, and removes a batch once, when old events of its account are pruned meanwhile', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const { account, key } = await aShop('http://shop.example/');
    const old = new Date(Date.now() - OLD_MS);
    await fixture.receive(
      ...[1, 2, 3].map((n) => anEvent({ account, resource: `inv_${n}`, version: n, at: old })),
    );
    await deliverAll();
    const pruning: Operation<number> = {
      pausesBefore: ['events_prune', 'commit'],
      run: (db) => pruneEvents(db, account, 2),
    };
    const event = anEvent({ account });
    const { a, b } = await interleave(pruning, {
      pausesBefore: ['events_insert', 'commit'],
      run: (db) => db.transaction((trx) => recordEvents(trx, [event], on(db))),
    });
    expect(returned(a)).toBe(2);
    returned(b);
    const log = () =>
      fixture.db.rows(
        `select array_agg(e.sequence::int order by e.sequence) as sequences, a.pruned_through::int, a.last_sequence::int
         from accounts a left join events e using (account_id) where a.account_id = $1
         group by a.pruned_through, a.last_sequence`,
        [account],
      );
    expect(await log()).toEqual([{ sequences: [3, 4], pruned_through: 2, last_sequence: 4 }]);
    await deliverAll();
    expect((await deliveriesOf(key)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect(await pruneEvents(fixture.db, account, 2)).toBe(1);
    expect(await log()).toEqual([{ sequences: [4], pruned_through: 3, last_sequence: 4 }]);
  });
});
