import type { Invariant } from './invariant.ts';

/** From the oldest sequence number that is kept to the last one given out. */
const sequencesHaveNoGap = `
  select a.account_id || ' has ' || count(e.sequence) || ' events between sequence ' || coalesce(min(e.sequence), 0) ||
    ' and ' || coalesce(max(e.sequence), 0) || ', the last given out is ' || a.last_sequence ||
    case when a.pruned_through > 0 then ', pruned through ' || a.pruned_through else '' end as what,
    null::text as asset, a.account_id as subject
  from webhooks.accounts a left join webhooks.events e on e.account_id = a.account_id
  group by a.account_id, a.last_sequence, a.pruned_through
  having count(e.sequence) <> a.last_sequence - a.pruned_through
    or coalesce(min(e.sequence), a.pruned_through + 1) <> a.pruned_through + 1
    or coalesce(max(e.sequence), a.pruned_through) <> a.last_sequence`;

/** An endpoint that is being registered, or changed, does not yet receive events of that very moment. */
const REGISTERED_WITHIN = `interval '1 minute'`;

const deliveriesAreScheduled = (waiting: string) => `
  ${waiting}
  select 'the delivery of ' || d.sequence || ' to endpoint ' || d.endpoint_key || ' waits, and nobody will send it' as what,
    null::text as asset, d.endpoint_key || '/' || d.sequence as subject
  from webhooks.deliveries d left join webhooks.endpoint_queues q on q.endpoint_key = d.endpoint_key
  where d.state = 'waiting' and (
    -- Disabled or deleted: its deliveries are being cancelled.
    (q.endpoint_key is null and not exists (
      select 1 from webhooks.endpoints p where p.key = d.endpoint_key and p.has_deliveries_to_cancel))
    -- The attempt that ends next sets both times.
    or (q.endpoint_key is not null and coalesce(case when d.retry then q.retry_due_at else q.new_due_at end, 'infinity') >
        greatest(d.due_at, now(), q.open_until) + $1::int * interval '1 second'
      and not exists (
        select 1 from webhooks.deliveries s where s.endpoint_key = d.endpoint_key and s.state = 'sending')))
  union all
  select 'the delivery of ' || d.sequence || ' to endpoint ' || d.endpoint_key || ' was claimed until ' || d.claimed_until ||
    ', and nobody has taken it back', null::text, d.endpoint_key || '/' || d.sequence
  from webhooks.deliveries d
  where d.state = 'sending' and d.claimed_until < now() - (60 + $1::int) * interval '1 second'`;

const deliveriesAreThere = `
  select 'event ' || e.sequence || ' of ' || e.account_id || ' has no delivery to endpoint ' || p.key as what,
    null::text as asset, p.key || '/' || e.sequence as subject
  from webhooks.endpoints p
  -- a test is for one endpoint, whatever the others want
  join webhooks.events e on e.account_id = p.account_id and e.kind = any(p.event_types) and e.kind <> 'webhook.test'
    and e.created_at > coalesce(p.subscribed_since, p.created_at) + ${REGISTERED_WITHIN}
  where p.enabled and p.deleted_at is null and not exists (
    select 1 from webhooks.deliveries d where d.endpoint_key = p.key and d.sequence = e.sequence)
  union all`;

export const webhookInvariants: readonly Invariant[] = [
  {
    number: 'I8',
    name: 'event-sequence-has-no-gap',
    meaning: 'the event sequence of every account has no gap',
    alone: true,
    pausesPayouts: false,
    sql: sequencesHaveNoGap,
  },
  {
    number: 'I8',
    name: 'deliveries-are-scheduled',
    meaning: 'every event is delivered to each endpoint that wants it, scheduled, exhausted or cancelled',
    pausesPayouts: false,
    sql: deliveriesAreScheduled(deliveriesAreThere),
    recent: () => deliveriesAreScheduled(''),
  },
];
