import type { Bus } from './bus.ts';
import { missingAnswer, missingQuestion, missingSubject } from './commands.ts';
import { type Db, statement } from './db.ts';
import { events, kindsFor, type Service, services } from './events.ts';
import { failpoint } from './failpoint.ts';
import { deadLettersOf, missingFromInbox } from './inbox.ts';
import type { Logger } from './logger.ts';

const BATCH = 500;
const ASK_TIMEOUT_MS = 5_000;
/** An event has this long to arrive before its receivers are asked about it. */
const GRACE_SECONDS = 20;

/** An event is sent again ever later, up to this, so that a slow receiver gets fewer duplicates. */
const GRACE_MAX_SECONDS = 300;

/**
 * NATS delivers in the order of sending: when a receiver has an event that was sent this much later than a missing one, the
 * missing one is lost, however often it was lost before. Longer than the time after which a failed event is delivered again.
 */
const OVERTAKEN_BY_SECONDS = 6;

/** The latest events too, however many come before them: they show how far a receiver is. */
const LATEST = 20;

const unconfirmed = (order: string, limit: number) =>
  `(select seq, id, sent_at as "sentAt",
      sent_at < now() - least($3::int * 2 ^ (least(sends, 10) - 1), ${GRACE_MAX_SECONDS}) * interval '1 second' as "isOverdue"
    from outbox
    where confirmed_at is null and kind = any($1::text[]) and $2::text <> all(confirmed_by)
      and sent_at < now() - $3::int * interval '1 second'
    order by ${order} limit ${limit})`;

const selectUnconfirmed = statement(
  'reconcile_unconfirmed',
  `${unconfirmed('seq', BATCH)} union ${unconfirmed('seq desc', LATEST)}`,
);

// The row lists the receivers that have it, because two replicas may hear from two receivers at once. An event that an
// operator has sent again since the request is asked about again.
const confirm = statement(
  'reconcile_confirm',
  `update outbox set confirmed_by = array_append(confirmed_by, $2::text),
     dead_lettered_by = case when id = any($4::text[]) then array_append(dead_lettered_by, $2::text) else dead_lettered_by end,
     confirmed_at = case when array_append(confirmed_by, $2::text) @>
       array(select jsonb_array_elements_text($3::jsonb -> kind)) then now() end
   where seq = any($1::bigint[]) and $2::text <> all(confirmed_by) and sent_at is not null`,
);

const receivers = JSON.stringify(
  Object.fromEntries(Object.entries(events).map(([kind, { to }]) => [kind, to])),
);

const sendAgain = statement(
  'reconcile_send_again',
  `update outbox set sent_at = null, claimed_until = null where seq = any($1::bigint[]) and confirmed_at is null`,
);

type Row = { seq: string; id: string; sentAt: Date; isOverdue: boolean };

/**
 * Compares this service's outbox with the inboxes of its receivers, and sends again what did not arrive: NATS may lose
 * everything, even its data directory, and that costs only time. Each receiver is asked about its own events, so that one
 * that is down does not affect the others.
 * @returns how many events were confirmed or sent again; 0 means that there were none or no receiver answered.
 */
export async function reconcileStep(
  db: Db,
  bus: Bus,
  logger: Logger,
  graceSeconds = GRACE_SECONDS,
): Promise<number> {
  if (!bus.connected()) return 0;
  let settled = 0;
  for (const service of services) settled += await reconcileWith(service, db, bus, logger, graceSeconds);
  return settled;
}

async function reconcileWith(
  service: Service,
  db: Db,
  bus: Bus,
  logger: Logger,
  graceSeconds: number,
): Promise<number> {
  const kinds = kindsFor(service);
  if (kinds.length === 0) return 0;
  const rows = await db.rows<Row>(selectUnconfirmed, [kinds, service, graceSeconds]);
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  const asked = await bus.request(missingSubject(service), { ids }, missingAnswer, ASK_TIMEOUT_MS);
  if (!asked.known) return 0;
  const missing = new Set(asked.reply.missing);
  failpoint('reconciler.asked');
  const arrived = rows.filter((row) => !missing.has(row.id));
  const reachedMs = Math.max(...arrived.map(({ sentAt }) => sentAt.getTime()));
  const lost = rows.filter(
    ({ id, sentAt, isOverdue }) =>
      missing.has(id) && (isOverdue || sentAt.getTime() + OVERTAKEN_BY_SECONDS * 1_000 < reachedMs),
  );
  if (arrived.length > 0)
    await db.rows(confirm, [arrived.map((row) => row.seq), service, receivers, asked.reply.parked]);
  failpoint('reconciler.confirmed');
  if (lost.length > 0) {
    logger.warn({ events: lost.length, to: service }, 'events had not arrived, sending them again');
    await db.rows(sendAgain, [lost.map((row) => row.seq)]);
    failpoint('reconciler.sent_again');
  }
  return arrived.length + lost.length;
}

/** Answers the other services' reconcilers from this service's inbox. */
export function answerReconcilers(bus: Bus, db: Db, service: Service): void {
  bus.answer(missingSubject(service), async (body) => {
    const { ids } = missingQuestion.parse(body);
    return { missing: await missingFromInbox(db, ids), parked: await deadLettersOf(db, ids) };
  });
}
