import { statement, type Trx } from '@quittance/shared/db';
import type { Numbered } from './store-events.ts';

const insertForQueues = statement(
  'deliveries_insert',
  `with queue as materialized (
     select q.endpoint_key, e.account_id, e.kinds from endpoint_queues q join endpoints e on e.key = q.endpoint_key
     where e.account_id = any($1::text[]) order by q.endpoint_key for update of q),
   inserted as (
     insert into deliveries (endpoint_key, sequence, state, due_at)
     select queue.endpoint_key, g.sequence, 'waiting', $4
     from unnest($1::text[], $2::bigint[], $3::text[]) as g(account_id, sequence, kind)
     join queue on queue.account_id = g.account_id and g.kind = any(queue.kinds)
     returning endpoint_key)
   update endpoint_queues q set new_due_at = greatest(least(q.new_due_at, $4), q.open_until)
   where q.endpoint_key in (select endpoint_key from inserted)`,
);

/** A delivery, due now, for each of the events and each live endpoint of its account that wants its kind. */
export async function insertDeliveries(trx: Trx, events: readonly Numbered[], now: Date): Promise<void> {
  await trx.rows(insertForQueues, [
    events.map((event) => event.accountId),
    events.map((event) => event.sequence),
    events.map((event) => event.kind),
    now,
  ]);
}

export type AttemptRow = {
  endpointKey: string;
  sequence: string;
  claim: string;
  state: string;
  dueAt: Date | null;
  /** Whether its schedule begins anew with the next attempt. */
  roundBegins: boolean;
  /** Whether it counts as an attempt and is logged. */
  counted: boolean;
  startedAt: Date;
  ms: number;
  status: number | null;
  failure: string | null;
  answer: string | null;
};

const endClaims = statement(
  'attempts_record',
  `with given as materialized (
     select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[], $6::bool[],
       $7::timestamptz[], $8::int[], $9::int[], $10::text[], $11::text[],
       $12::bool[])
     as g(endpoint_key, sequence, claim, state, due_at, counted, started_at, ms, status, failure, answer, round_begins)),
   ended as (
     update deliveries d set state = g.state, due_at = coalesce(g.due_at, d.due_at), claim = null,
       claimed_until = null, attempts = d.attempts + g.counted::int,
       round_start = case when g.round_begins then d.attempts + g.counted::int else d.round_start end
     from given g where d.endpoint_key = g.endpoint_key and d.sequence = g.sequence
       and d.state = 'sending' and d.claim = g.claim
     returning d.endpoint_key, d.sequence, g.claim, d.attempts),
   logged as (
     insert into attempts (endpoint_key, sequence, number, started_at, ms, status, failure, answer)
     select endpoint_key, sequence, ended.attempts, g.started_at, g.ms, g.status, g.failure, g.answer
     from ended join given g using (endpoint_key, sequence, claim) where g.counted)
   select endpoint_key as "endpointKey", sequence, claim from ended`,
);

export type EndedClaim = { endpointKey: string; sequence: string; claim: string };

/** Ends claims with what came of them; leaves out, and does not answer, those that have gone to another. */
export const recordEnds = (trx: Trx, records: readonly AttemptRow[]): Promise<EndedClaim[]> =>
  trx.rows<EndedClaim>(endClaims, [
    records.map((record) => record.endpointKey),
    records.map((record) => record.sequence),
    records.map((record) => record.claim),
    records.map((record) => record.state),
    records.map((record) => record.dueAt),
    records.map((record) => record.counted),
    records.map((record) => record.startedAt),
    records.map((record) => record.ms),
    records.map((record) => record.status),
    records.map((record) => record.failure),
    records.map((record) => record.answer),
    records.map((record) => record.roundBegins),
  ]);
