import type { Bus } from './bus.ts';
import { missingAnswer, missingQuestion, missingSubject } from './commands.ts';
import { type Db, statement } from './db.ts';
import { type EventKind, events, type Service, services } from './events.ts';
import { missingFromInbox } from './inbox.ts';
import type { Logger } from './logger.ts';

const BATCH = 500;
const ASK_TIMEOUT_MS = 5_000;
/** An event gets this long to arrive before its receivers are asked for it. */
const GRACE_SECONDS = 20;

const selectUnconfirmed = statement(
  'reconcile_unconfirmed',
  `select seq, id, kind from outbox
   where confirmed_at is null and sent_at < now() - $1::int * interval '1 second'
   order by seq limit ${BATCH}`,
);

const confirm = statement(
  'reconcile_confirm',
  `update outbox set confirmed_at = now() where seq = any($1::bigint[])`,
);

const sendAgain = statement(
  'reconcile_send_again',
  `update outbox set sent_at = null, claimed_until = null where seq = any($1::bigint[]) and confirmed_at is null`,
);

const forgetOld = statement(
  'reconcile_forget_old',
  `delete from outbox where seq in (
     select seq from outbox where confirmed_at < now() - interval '30 days' order by seq limit ${BATCH})`,
);

type Row = { seq: string; id: string; kind: EventKind };

/**
 * Compares this service's outbox with the inboxes of those it wrote to, and sends again what did not
 * arrive: the bus may lose anything, even its whole data directory, and it costs only time.
 * @returns how many events were settled one way or the other; 0 means all is well or nobody answered.
 */
export async function reconcileStep(
  db: Db,
  bus: Bus,
  logger: Logger,
  graceSeconds = GRACE_SECONDS,
): Promise<number> {
  if (!bus.connected()) return 0;
  const rows = await db.rows<Row>(selectUnconfirmed, [graceSeconds]);
  if (rows.length === 0) {
    await db.rows(forgetOld);
    return 0;
  }
  const missing = new Set<string>();
  const unknown = new Set<Service>();
  for (const service of services) {
    const ids = rows.filter((row) => goesTo(row.kind, service)).map((row) => row.id);
    if (ids.length === 0) continue;
    const asked = await bus.askRaw(missingSubject(service), { ids }, missingAnswer, ASK_TIMEOUT_MS);
    if (asked.known) for (const id of asked.reply.missing) missing.add(id);
    else unknown.add(service);
  }
  const decided = rows.filter((row) => ![...unknown].some((service) => goesTo(row.kind, service)));
  const arrived = decided.filter((row) => !missing.has(row.id));
  const lost = rows.filter((row) => missing.has(row.id));
  if (arrived.length > 0) await db.rows(confirm, [arrived.map((row) => row.seq)]);
  if (lost.length > 0) {
    logger.warn({ events: lost.length }, 'events had not arrived, sending them again');
    await db.rows(sendAgain, [lost.map((row) => row.seq)]);
  }
  return arrived.length + lost.length;
}

const goesTo = (kind: EventKind, service: Service): boolean =>
  (events[kind].to as readonly Service[]).includes(service);

/** Answers the other services' reconcilers from this service's inbox. */
export function answerReconcilers(bus: Bus, db: Db, service: Service): void {
  bus.answer(missingSubject(service), async (body) => {
    const { ids } = missingQuestion.parse(body);
    return { missing: await missingFromInbox(db, ids) };
  });
}
