import type { Bus } from './bus.ts';
import { bulk, type Db, statement, type Trx } from './db.ts';
import { sentSpans } from './event-spans.ts';
import type { EventKind, NewEvent } from './events.ts';
import { failpoint } from './failpoint.ts';
import { newEventId } from './ids.ts';
import type { Logger } from './logger.ts';
import { invariant } from './result.ts';
import { noTracer, type Tracer } from './traces.ts';

/** How many events one step publishes at most. */
export const RELAY_BATCH = 200;

/** Far below the limit of NATS (a megabyte), and far above the size of our events. */
const PAYLOAD_MAX_BYTES = 256 * 1_024;

/**
 * Relay bookkeeping uses `synchronous_commit = off`: losing it in a power cut sends events again, and the inbox removes the
 * duplicates. Set within the statement, it holds for its transaction alone.
 */
const WITHOUT_WAITING = `relaxed as materialized (select set_config('synchronous_commit', 'off', true))`;

const outboxRows = bulk({ id: 'text', kind: 'text', payload: 'jsonb', requestId: 'text' });

const insertEvents = statement(
  'outbox_insert',
  `insert into outbox (id, kind, payload, request_id, created_at)
   select *, greatest(now(), $5::timestamptz) from ${outboxRows.from('given')}`,
);

/**
 * Stores events in the transaction of the state change that caused them.
 * @param at when the change happened, by the clock that dated it: no event is older than its cause
 */
export async function appendToOutbox(
  trx: Trx,
  events: readonly NewEvent[],
  requestId: string | null = null,
  at: Date | null = null,
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ kind, payload: value }) => {
    const payload = JSON.stringify(value);
    invariant(
      Buffer.byteLength(payload) <= PAYLOAD_MAX_BYTES,
      `an event of the kind ${kind} is not too large`,
    );
    return { id: newEventId(), kind, payload, requestId };
  });
  await trx.rows(insertEvents, [...outboxRows.values(rows), at]);
}

type OutboxRow = {
  seq: string;
  id: string;
  kind: EventKind;
  payload: unknown;
  request_id: string | null;
  created_at: Date;
  sends: number;
};

// Claimed, so that no transaction stays open during the publication: for a little longer than that may take, because the
// events that a dead process had claimed wait for this time.
const claim = statement(
  'outbox_claim',
  `with ${WITHOUT_WAITING}
   update outbox set claimed_until = now() + interval '6 seconds'
   where (select count(*) from relaxed) = 1 and seq in (
     select seq from outbox
     where sent_at is null and (claimed_until is null or claimed_until < now())
     order by seq limit ${RELAY_BATCH} for update skip locked)
   returning seq, id, kind, payload, request_id, created_at, sends`,
);

const markSent = statement(
  'outbox_mark_sent',
  `with ${WITHOUT_WAITING}
   update outbox set sent_at = now(), sends = sends + 1
   where (select count(*) from relaxed) = 1 and seq = any($1::bigint[])`,
);

const giveBack = statement(
  'outbox_give_back',
  `update outbox set claimed_until = now() + interval '1 second' where seq = any($1::bigint[])`,
);

// No relay claims it again until an operator clears this.
const holdBack = statement(
  'outbox_hold_back',
  `update outbox set claimed_until = 'infinity' where seq = any($1::bigint[])`,
);

/**
 * One step of the relay: publishes a batch of the outbox, at least once; the inbox removes duplicates. An event that is too
 * large for NATS is held back, so that the others go on.
 * @returns how many were published or held back; 0 means wait.
 */
export async function relayStep(
  db: Db,
  bus: Bus,
  logger: Logger,
  tracer: Tracer = noTracer,
): Promise<number> {
  if (!bus.connected()) return 0;
  const rows = await db.rows<OutboxRow>(claim);
  if (rows.length === 0) return 0;
  rows.sort((a, b) => (BigInt(a.seq) < BigInt(b.seq) ? -1 : 1));
  failpoint('relay.claimed');
  const all = rows.map((row) => ({ ...row, body: JSON.stringify(envelopeOf(row)) }));
  const { carried = [], tooLarge = [] } = Object.groupBy(all, ({ body }) =>
    bus.hasRoomFor(body) ? 'carried' : 'tooLarge',
  );
  // Logged first: an event that is held back without a log line would go unnoticed.
  for (const { id, kind, body } of tooLarge) {
    logger.error(
      { event: id, kind, bytes: Buffer.byteLength(body) },
      'an event is too large for NATS and is held back: it is not sent until an operator clears claimed_until of its outbox row',
    );
  }
  if (tooLarge.length > 0) await db.rows(holdBack, [tooLarge.map(({ seq }) => seq)]);
  const stored = await bus.publish(
    carried.map(({ id, sends, kind, body }) => ({ kind, dedupe: `${id}.${sends}`, body })),
  );
  failpoint('relay.published');
  const sent = carried.filter((_, i) => stored[i] === true);
  const unsent = carried.filter((_, i) => stored[i] !== true);
  tracer.record(() => {
    const now = tracer.now();
    return sent.flatMap((row) => sentSpans(row, now));
  });
  if (sent.length > 0) await db.rows(markSent, [sent.map((row) => row.seq)]);
  failpoint('relay.marked');
  if (unsent.length > 0) await db.rows(giveBack, [unsent.map((row) => row.seq)]);
  return sent.length + tooLarge.length;
}

const envelopeOf = (row: OutboxRow) => ({
  id: row.id,
  kind: row.kind,
  created_at: row.created_at.toISOString(),
  request_id: row.request_id,
  payload: row.payload,
});

const PRUNE_BATCH = 500;

// A dead letter of a receiver can be sent again from here only. Of the first events only, because there are millions that are
// younger.
export const pruneOutbox = statement(
  'outbox_prune',
  `with first as (
     select seq, confirmed_at from outbox where confirmed_at is not null and dead_lettered_by = '{}'
     order by seq limit ${PRUNE_BATCH})
   delete from outbox using first
   where outbox.seq = first.seq and first.confirmed_at < now() - interval '30 days'
   returning outbox.seq`,
);

/**
 * Deletes events that all receivers have had for 30 days: a receiver remembers an event for as long, see `pruneInboxStep`.
 * @returns how many were deleted; 0 means wait.
 */
export async function pruneOutboxStep(db: Db): Promise<number> {
  return (await db.rows(pruneOutbox)).length;
}
