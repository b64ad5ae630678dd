import { beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import type { Bus } from '../src/bus.ts';
import { missingSubject } from '../src/commands.ts';
import { type EventKind, type Service, services } from '../src/events.ts';
import { createLogger } from '../src/logger.ts';
import { startMessenger } from '../src/messenger.ts';
import { pruneOutbox, pruneOutboxStep } from '../src/outbox.ts';
import { reconcileStep } from '../src/reconcile.ts';

/** A sender with a real outbox, and receivers of whom the test says what they have. */

const logger = createLogger('test', 'silent');
const suite = await suiteDatabase();
const db = suite.openAs('invoices');

beforeEach(async () => {
  await db.rows('delete from outbox');
});

/** Those that are up, each with what it answers: nothing, everything or some is missing. */
type Receivers = Partial<
  Record<Service, 'has all' | 'has none' | 'has dead letters' | { lacks: readonly string[] }>
>;

/** One step; answers whom it asked for how many events. */
async function reconcile(receivers: Receivers): Promise<Partial<Record<Service, number>>> {
  const asked: Partial<Record<Service, number>> = {};
  await step(receivers, asked);
  return asked;
}

/** One step; answers how much it settled. */
function step(receivers: Receivers, asked: Partial<Record<Service, number>> = {}): Promise<number> {
  const request = async (subject: string, { ids }: { ids: string[] }) => {
    const service = services.find((one) => missingSubject(one) === subject) as Service;
    asked[service] = ids.length;
    const one = receivers[service];
    if (one === undefined) return { known: false, reason: 'timeout' };
    const lacks = typeof one === 'object' ? one.lacks : one === 'has none' ? ids : [];
    const deadLetters = one === 'has dead letters' ? ids : [];
    return { known: true, reply: { missing: ids.filter((id) => lacks.includes(id)), parked: deadLetters } };
  };
  return reconcileStep(db, { connected: () => true, request } as unknown as Bus, logger);
}

/** Events that were published some time ago. */
async function sent(kind: EventKind, count = 1, { secondsAgo = 60, sends = 1 } = {}): Promise<void> {
  await db.rows(
    `insert into outbox (id, kind, payload, sent_at, sends)
     select gen_random_uuid()::text, '${kind}', '{}', now() - ${secondsAgo} * interval '1 second', ${sends}
     from generate_series(1, ${count})`,
  );
}

const count = async (condition: string, kind: EventKind): Promise<number> =>
  // eslint-disable-next-line no-restricted-syntax -- a count
  Number(
    (await db.one<{ n: string }>(`select count(*) as n from outbox where kind = '${kind}' and ${condition}`))
      .n,
  );

test('a receiver that is down does not keep others from being asked', async () => {
  await sent('invoice.paid', 600);
  await sent('deposit.settled', 600);
  await sent('hold.void', 3);
  await reconcile({ ledger: 'has all' });
  await reconcile({ ledger: 'has all' });
  expect(await count('confirmed_at is not null', 'hold.void')).toBe(3);
  expect(await count('sent_at is not null and confirmed_at is null', 'invoice.paid')).toBe(600);
});

test('an event for two is confirmed when both have it, and sent again for one that has not', async () => {
  await sent('deposit.settled');
  await reconcile({ ledger: 'has all' });
  expect(await count('confirmed_at is null', 'deposit.settled')).toBe(1);
  expect(await reconcile({ payouts: 'has none' })).toEqual({ payouts: 1 });
  expect(await count('sent_at is null', 'deposit.settled')).toBe(1);
  await db.rows(`update outbox set sent_at = now() - interval '10 minutes', sends = 2`);
  await reconcile({ payouts: 'has all' });
  expect(await count('confirmed_at is not null', 'deposit.settled')).toBe(1);
});

test.each([
  [1, 19, 0],
  [1, 21, 1],
  [2, 39, 0],
  [2, 41, 1],
  [4, 159, 0],
  [4, 161, 1],
  [1000, 299, 0],
  [1000, 301, 1],
])(
  'an event sent %i times, the last time %i s ago, is sent again %i times to who has nothing since',
  async (sends, secondsAgo, times) => {
    await sent('invoice.paid', 1, { sends, secondsAgo });
    await reconcile({ webhooks: 'has none' });
    expect(await count('sent_at is null', 'invoice.paid')).toBe(times);
  },
);

test('what was overtaken is lost, however often it was sent before: it is sent again at once', async () => {
  await sent('invoice.paid', 1, { sends: 5, secondsAgo: 40 });
  const [{ id } = { id: '' }] = await db.rows<{ id: string }>('select id from outbox');
  // Between them more than a question holds, and none of them there yet.
  await sent('invoice.paid', 600, { sends: 5, secondsAgo: 30 });
  const lacks = (await db.rows<{ id: string }>('select id from outbox')).map((row) => row.id);
  await sent('invoice.paid', 1, { secondsAgo: 37 });
  await reconcile({ webhooks: { lacks } });
  expect(await count('sent_at is null', 'invoice.paid')).toBe(0);
  await sent('invoice.paid', 1, { secondsAgo: 28 });
  await reconcile({ webhooks: { lacks } });
  expect(await db.rows('select id from outbox where sent_at is null')).toEqual([{ id }]);
  for (const lost of [520, 601]) {
    await sent('invoice.paid', 1, { secondsAgo: 21 });
    await reconcile({ webhooks: { lacks } });
    expect(await count('sent_at is null', 'invoice.paid')).toBe(lost);
  }
});

test('to wait for who is behind is not to be busy', async () => {
  await sent('invoice.paid', 3, { sends: 5 });
  expect(await step({ webhooks: 'has none' })).toBe(0);
});

test('old events are deleted as fast as they come, and without a look at all that are younger', async () => {
  await sent('deposit.settled', 20_000);
  await db.rows(
    `update outbox set confirmed_at = now() - case when seq < (select min(seq) + 1200 from outbox) then 31 else 1 end * interval '1 day'`,
  );
  const prune = () => pruneOutboxStep(db);
  expect([await prune(), await prune(), await prune(), await prune()]).toEqual([500, 500, 200, 0]);
  expect(await count('true', 'deposit.settled')).toBe(18_800);
  const { text } = pruneOutbox;
  await suite.openAsAdmin('invoices').rows('analyze outbox');
  const plan = (await db.rows<Record<string, string>>(`explain (analyze, buffers off, timing off) ${text}`))
    .map((line) => Object.values(line)[0])
    .join('\n');
  expect(plan).not.toMatch(/Seq Scan|Sort/);
});

test('an event that all receivers have is deleted after a month, but not while it is a dead letter of one', async () => {
  const forgetting = async () => {
    await db.rows(
      `update outbox set confirmed_at = now() - interval '31 days' where confirmed_at is not null`,
    );
    await pruneOutboxStep(db);
  };
  await sent('deposit.settled', 2);
  await reconcile({ payouts: 'has all', ledger: 'has all' });
  await forgetting();
  expect(await count('true', 'deposit.settled')).toBe(0);

  await sent('deposit.settled', 2);
  await reconcile({ ledger: 'has dead letters' });
  await reconcile({ payouts: 'has all' });
  await forgetting();
  expect(await count(`confirmed_at is not null and dead_lettered_by = '{ledger}'`, 'deposit.settled')).toBe(
    2,
  );
  // An operator retries it, and it is processed.
  await db.rows(
    `update outbox set confirmed_at = null, confirmed_by = '{payouts}', dead_lettered_by = '{}' where confirmed_at is not null`,
  );
  await reconcile({ ledger: 'has all' });
  await forgetting();
  expect(await count('true', 'deposit.settled')).toBe(0);
});

test('old events are deleted while each step of the reconciler confirms a younger one', async () => {
  await sent('deposit.settled', 700);
  await db.rows(`update outbox set confirmed_at = now() - interval '31 days'`);
  await sent('invoice.paid');
  let confirmed = 0;
  const bus = {
    connected: () => true,
    answer: () => undefined,
    request: async () => {
      confirmed += 1;
      await sent('invoice.paid');
      return { known: true, reply: { missing: [], parked: [] } };
    },
  } as unknown as Bus;
  const messenger = startMessenger({ db, bus, service: 'invoices', logger });
  try {
    await eventually(async () => expect(await count('true', 'deposit.settled')).toBe(0));
    const before = confirmed;
    await eventually(() => expect(confirmed).toBeGreaterThan(before));
  } finally {
    await messenger.stop();
  }
});
