import type { Bus } from './bus.ts';
import { systemClock } from './clock.ts';
import { crashPoint } from './crash.ts';
import { type Db, statement, type Trx } from './db.ts';
import type { Announcement, EventKind } from './events.ts';
import { newEventId } from './ids.ts';

/** At most so many are carried in one step. */
export const RELAY_BATCH = 200;

/**
 * What a relay notes of its own work need not wait for the disk: a note that a power cut takes away is an event sent
 * twice, and the inbox makes it once. Said within the statement, it holds for its transaction alone.
 */
const WITHOUT_WAITING = `relaxed as materialized (select set_config('synchronous_commit', 'off', true))`;

const insertEvents = statement(
  'outbox_insert',
  `insert into outbox (id, kind, payload, request_id, created_at)
   select *, greatest(now(), $5::timestamptz) from unnest($1::text[], $2::text[], $3::jsonb[], $4::text[])`,
);

/**
 * Writes events beside the state change they tell of: both stand or neither does.
 * @param at when that change happened, by the clock that dated it: no event is older than what it tells
 */
export async function announce(
  trx: Trx,
  announcements: readonly Announcement[],
  requestId: string | null = null,
  at: Date | null = null,
): Promise<void> {
  if (announcements.length === 0) return;
  const now = systemClock.now();
  await trx.rows(insertEvents, [
    announcements.map(() => newEventId(now)),
    announcements.map((event) => event.kind),
    announcements.map((event) => JSON.stringify(event.payload)),
    announcements.map(() => requestId),
    at,
  ]);
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

// Claimed for ten seconds, so that no transaction stays open while the bus is asked.
const claim = statement(
  'outbox_claim',
  `with ${WITHOUT_WAITING}
   update outbox set claimed_until = now() + interval '10 seconds'
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

/**
 * One step of the relay: carries a batch from the outbox to the bus. At least once; an inbox makes it once.
 * @returns how many were carried; 0 means wait.
 */
export async function relayStep(db: Db, bus: Bus): Promise<number> {
  if (!bus.connected()) return 0;
  const rows = await db.rows<OutboxRow>(claim);
  if (rows.length === 0) return 0;
  rows.sort((a, b) => (BigInt(a.seq) < BigInt(b.seq) ? -1 : 1));
  crashPoint('relay.claimed');
  const stored = await bus.publish(
    rows.map((row) => ({
      kind: row.kind,
      dedupe: `${row.id}.${row.sends}`,
      body: JSON.stringify(envelopeOf(row)),
    })),
  );
  crashPoint('relay.published');
  const sent = rows.filter((_, i) => stored[i] === true);
  const unsent = rows.filter((_, i) => stored[i] !== true);
  if (sent.length > 0) await db.rows(markSent, [sent.map((row) => row.seq)]);
  if (unsent.length > 0) await db.rows(giveBack, [unsent.map((row) => row.seq)]);
  return sent.length;
}

const envelopeOf = (row: OutboxRow) => ({
  id: row.id,
  kind: row.kind,
  created_at: row.created_at.toISOString(),
  request_id: row.request_id,
  payload: row.payload,
});
