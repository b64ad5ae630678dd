import type { Bus } from './bus.ts';
import { type Db, statement, type Trx } from './db.ts';
import type { Announcement, EventKind } from './events.ts';
import { failpoint } from './failpoint.ts';
import { newEventId } from './ids.ts';
import type { Logger } from './logger.ts';
import { invariant } from './result.ts';
import { bulk } from './store-kit.ts';

/** At most so many are carried in one step. */
export const RELAY_BATCH = 200;

/** Far below what the bus takes (a megabyte), and far above what anything we tell has. */
const PAYLOAD_MAX_BYTES = 256 * 1_024;

/**
 * What a relay notes of its own work need not wait for the disk: a note that a power cut takes away is an event sent
 * twice, and the inbox makes it once. Said within the statement, it holds for its transaction alone.
 */
const WITHOUT_WAITING = `relaxed as materialized (select set_config('synchronous_commit', 'off', true))`;

const outboxRows = bulk({ id: 'text', kind: 'text', payload: 'jsonb', requestId: 'text' });

const insertEvents = statement(
  'outbox_insert',
  `insert into outbox (id, kind, payload, request_id, created_at)
   select *, greatest(now(), $5::timestamptz) from ${outboxRows.from('given')}`,
);

/**
 * Writes events beside the state change they tell of: both stand or neither does.
 * @param at when that change happened, by the clock that dated it: no event is older than what it tells
 */
export async function appendToOutbox(
  trx: Trx,
  announcements: readonly Announcement[],
  requestId: string | null = null,
  at: Date | null = null,
): Promise<void> {
  if (announcements.length === 0) return;
  const rows = announcements.map(({ kind, payload: value }) => {
    const payload = JSON.stringify(value);
    invariant(Buffer.byteLength(payload) <= PAYLOAD_MAX_BYTES, `an event has room on the bus, ${kind} too`);
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

// Claimed, so that no transaction stays open while the bus is asked: for a little longer than that may take, because
// what a process that died had claimed waits for so long.
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

// Nobody claims it again until an operator clears this.
const setAside = statement(
  'outbox_set_aside',
  `update outbox set claimed_until = 'infinity' where seq = any($1::bigint[])`,
);

/**
 * One step of the relay: carries a batch from the outbox to the bus. At least once; an inbox makes it once. What is too
 * large for the bus is set aside, so that the others go on.
 * @returns how many were dealt with; 0 means wait.
 */
export async function relayStep(db: Db, bus: Bus, logger: Logger): Promise<number> {
  if (!bus.connected()) return 0;
  const rows = await db.rows<OutboxRow>(claim);
  if (rows.length === 0) return 0;
  rows.sort((a, b) => (BigInt(a.seq) < BigInt(b.seq) ? -1 : 1));
  failpoint('relay.claimed');
  const all = rows.map((row) => ({ ...row, body: JSON.stringify(envelopeOf(row)) }));
  const { carried = [], tooLarge = [] } = Object.groupBy(all, ({ body }) =>
    bus.hasRoomFor(body) ? 'carried' : 'tooLarge',
  );
  // Said first: what is set aside in silence would stay so.
  for (const { id, kind, body } of tooLarge) {
    logger.error(
      { event: id, kind, bytes: Buffer.byteLength(body) },
      'an event is too large for the bus and is set aside: nobody is told of it until an operator has looked',
    );
  }
  if (tooLarge.length > 0) await db.rows(setAside, [tooLarge.map(({ seq }) => seq)]);
  const stored = await bus.publish(
    carried.map(({ id, sends, kind, body }) => ({ kind, dedupe: `${id}.${sends}`, body })),
  );
  failpoint('relay.published');
  const sent = carried.filter((_, i) => stored[i] === true);
  const unsent = carried.filter((_, i) => stored[i] !== true);
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
