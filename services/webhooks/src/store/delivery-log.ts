import { type Queryable, query } from '@quittance/shared/db';
import type { AccountId, EndpointId, EventId } from '@quittance/shared/ids';
import type { DeliveryState } from '../domain/delivery.ts';
import { SEQUENCE_MAX } from './events.ts';

/** Attempts per delivery: as many as a retry cycle has. */
const ATTEMPTS_SHOWN = 10;

/** An attempt as it was recorded, in the JSON of the API: answered with a status, or failed. */
export type LoggedAttempt = {
  number: number;
  /** As Postgres writes it in JSON. */
  started_at: string;
  ms: number;
  status: number | null;
  failure: string | null;
  /** The first kilobyte of the body. */
  answer: string | null;
};

/** One event for one endpoint, with its state and attempts. */
export type LoggedDelivery = {
  endpointId: EndpointId;
  eventId: EventId;
  kind: string;
  sequence: string;
  eventCreatedAt: Date;
  state: DeliveryState;
  /** When it is sent, while it waits. */
  dueAt: Date;
  /** The latest ones, in order. */
  attempts: LoggedAttempt[];
};

// A waiting delivery is not sent before the end of the pause that its endpoint asked for.
const notBefore = `greatest(d.due_at, (select open_until from endpoint_queues q where q.endpoint_key = d.endpoint_key))`;
/** Of deliveries `d` with their events, and endpoints `p`. */
const columns = `p.id as endpoint_id, d.event_id, d.kind, d.sequence, d.created_at as event_created_at, d.state,
  ${notBefore} as due_at`;
// A delivery that waits for an endpoint without a queue is never sent, and will be cancelled.
const isLive = 'exists (select from endpoint_queues q where q.endpoint_key = d.endpoint_key)';
const withEvent = `d.endpoint_key, d.sequence,
  case when d.state = 'waiting' and not ${isLive} then 'cancelled' else d.state end as state,
  d.due_at, ev.id as event_id, ev.kind, ev.created_at`;

const attemptsOfIt = `coalesce((
    select json_agg(json_build_object('number', number, 'started_at', started_at, 'ms', ms, 'status', status,
      'failure', failure, 'answer', answer) order by number)
    from (
      select * from attempts a where a.endpoint_key = d.endpoint_key and a.sequence = d.sequence
      order by number desc limit ${ATTEMPTS_SHOWN}) as latest), '[]') as attempts`;

/** What the table has for each state of the API. */
const conditions: Record<DeliveryState | 'any', readonly string[]> = {
  any: [''],
  waiting: [`and d.state = 'waiting' and ${isLive}`],
  sending: [`and d.state = 'sending'`],
  delivered: [`and d.state = 'delivered'`],
  exhausted: [`and d.state = 'exhausted'`],
  cancelled: [`and d.state = 'cancelled'`, `and d.state = 'waiting' and not ${isLive}`],
};

// Limits the search in the log of events to the time in which the endpoint has deliveries.
const ofKind = `and ev.kind = $5
           and ev.sequence >= (select min(sequence) from deliveries where endpoint_key = $1)
           and ev.sequence <= (select max(sequence) from deliveries where endpoint_key = $1)`;

/** The latest deliveries that meet a condition. */
const latest = (condition: string, kind: string) => `
           (select ${withEvent}
           from deliveries d join events ev on ev.account_id = $2 and ev.sequence = d.sequence
           where d.endpoint_key = $1 and d.sequence < $3 ${condition} ${kind}
           order by d.sequence desc limit $4)`;

/** One statement per state: Postgres uses the index of a state only when the text contains the state. */
const pageOf = (state: DeliveryState | 'any', hasKind: boolean) =>
  query<LoggedDelivery>(
    `deliveries_page_${state}${hasKind ? '_of_kind' : ''}`,
    `with page as materialized (
       select * from (${conditions[state]
         .map((condition) => latest(condition, hasKind ? ofKind : ''))
         .join(' union all ')}) as found
       order by sequence desc limit $4)
     select ${columns}, ${attemptsOfIt}
     from page d join endpoints p on p.key = d.endpoint_key
     order by d.sequence desc`,
  );

export type DeliveriesQuery = {
  status: DeliveryState | null;
  kind: string | null;
  /** Only events before this sequence number. */
  before: number | null;
  limit: number;
};

/** An endpoint's deliveries, the latest events first. */
export const deliveriesOf = (
  db: Queryable,
  { key, accountId }: { key: string; accountId: AccountId },
  { status, kind, before, limit }: DeliveriesQuery,
): Promise<LoggedDelivery[]> =>
  db.rows(pageOf(status ?? 'any', kind !== null), [
    ...[key, accountId, before ?? SEQUENCE_MAX, limit],
    ...(kind === null ? [] : [kind]),
  ]);

export type FoundDelivery = LoggedDelivery & {
  accountId: AccountId;
  endpointKey: string;
  endpointDeleted: boolean;
};

const selectOne = query<FoundDelivery>(
  'delivery_by_ids',
  `with p as materialized (select * from endpoints where id = $1),
   d as materialized (
     select ${withEvent} from p join events ev on ev.account_id = p.account_id and ev.id = $2
     join deliveries d on d.endpoint_key = p.key and d.sequence = ev.sequence)
   select ${columns}, ${attemptsOfIt}, p.account_id, p.key as endpoint_key,
     p.deleted_at is not null as endpoint_deleted
   from p cross join d`,
);

/** The delivery of an event to an endpoint, which may be deleted. */
export const findDelivery = (
  db: Queryable,
  { endpoint, event }: { endpoint: EndpointId; event: EventId },
): Promise<FoundDelivery | undefined> => db.maybe(selectOne, [endpoint, event]);
