import type { Bus } from './bus.ts';
import { type Clock, systemClock } from './clock.ts';
import { oldestAnswer, oldestQuestion, oldestSubject } from './commands.ts';
import { type Db, type Queryable, statement } from './db.ts';
import { events, kindsFor, type Service, sendersTo } from './events.ts';
import { firstEventIdAt } from './ids.ts';

const BATCH = 500;
const ASK_TIMEOUT_MS = 5_000;
/** As long as a sender keeps an event that all receivers have: nothing younger is removed. */
const KEPT_AT_LEAST_MS = 30 * 24 * 3_600_000;

const prune = statement('inbox_prune', `select prune_inbox(${BATCH}) as pruned`);

// Once in half an hour: what is refused now is removed ten minutes later, and many replicas would postpone that forever.
const refuseBefore = statement(
  'inbox_refuse_before',
  `insert into inbox_pruning (before_id)
   select least($1, (select max(event_id) || '0' from inbox)) where exists (select from inbox)
   on conflict (is_only) do update set before_id = excluded.before_id, since = now()
   where inbox_pruning.before_id < excluded.before_id and inbox_pruning.since < now() - interval '30 minutes'`,
);

const selectOldest = statement(
  'outbox_oldest',
  `select id from outbox where kind = any($1::text[]) order by id limit 1`,
);

/**
 * Deletes inbox rows of events that cannot arrive again. A sender keeps an event, and may send it again, until 30 days after
 * all receivers have it, while one of them is down, and while it is a dead letter of one. So each sender is asked for its
 * oldest event, and nothing is deleted unless all have answered. Older events are refused first and their rows deleted in a
 * later step, see `firstTimes`.
 * @returns how many rows were deleted; 0 means wait.
 */
export async function pruneInboxStep(
  db: Db,
  bus: Bus,
  service: Service,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<number> {
  const { pruned } = await db.one<{ pruned: number }>(prune);
  if (pruned > 0 || !bus.connected()) return pruned;
  let before: string = firstEventIdAt(new Date(clock.now().getTime() - KEPT_AT_LEAST_MS));
  const kinds = kindsFor(service);
  for (const sender of sendersTo(service)) {
    const asked = await bus.request(oldestSubject(sender), { kinds }, oldestAnswer, ASK_TIMEOUT_MS);
    if (!asked.known) return 0;
    const { id } = asked.reply;
    if (id !== null && id < before) before = id;
  }
  await db.rows(refuseBefore, [before]);
  return 0;
}

/** The oldest event of these kinds in this service's outbox. */
async function oldestKept(db: Queryable, kinds: readonly string[]): Promise<string | null> {
  return (await db.maybe<{ id: string }>(selectOldest, [kinds]))?.id ?? null;
}

/** Answers this service's receivers with the oldest event that it may still send them. */
export function answerPruning(bus: Bus, db: Db, service: Service): void {
  if (!Object.values(events).some(({ from }) => from === service)) return;
  bus.answer(oldestSubject(service), async (body) => {
    const { kinds } = oldestQuestion.parse(body);
    return { id: await oldestKept(db, kinds) };
  });
}
