import { type EventKind, events, type Service } from '@quittance/shared/events';

/** Rows of an outbox `o` that NATS or the receiver has not confirmed. */
export const unconfirmed = `(o.sent_at is null or (o.confirmed_at is null and o.sent_at is not null))`;

/** Events that were sent, and are neither processed nor a dead letter at that receiver: their effect is yet to come. */
export const onTheWay = (kind: EventKind, to: Service): string => `
  select o.payload from ${events[kind].from}.outbox o
  where o.kind = '${kind}' and ${unconfirmed}
    and not exists (select 1 from ${to}.inbox i where i.event_id = o.id)
    and not exists (select 1 from ${to}.dead_letters i where i.event_id = o.id)`;

/** Whether such an event for the ledger names `id` in `field`. */
export const isOnItsWay = (kind: EventKind, field: string, id: string) =>
  `exists (select 1 from (${onTheWay(kind, 'ledger')}) as w where w.payload ->> '${field}' = ${id})`;
