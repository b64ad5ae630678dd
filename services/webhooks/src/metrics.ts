import { statement } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import {
  createMetrics,
  type DatabaseGauge,
  messageGauges,
  openMetricsDb,
  reading,
} from '@quittance/shared/metrics';
import type { DeliveryUpdate } from './domain/outcome.ts';
import { type MailOutcome, mailOutcomes } from './ports.ts';

const WAITING_MAX = 100_000;
const queues = `(values ('new', false), ('retry', true)) as named(queue, retry)`;

const selectWaiting = statement(
  'metrics_deliveries_waiting',
  `select queue, count(waiting.retry)::float as value from ${queues} left join (
     select retry from deliveries where state = 'waiting' limit ${WAITING_MAX}) as waiting using (retry)
   group by queue`,
);

// Takes the first due delivery of each healthy endpoint, new and retry. A queue without a free slot has no due time: it has
// attempts in flight.
const selectOldestDue = statement(
  'metrics_deliveries_oldest_due',
  `select queue, coalesce(max(extract(epoch from now() - due.due_at)), 0)::float as value from ${queues}
   left join lateral (
     select first.due_at from endpoint_queues q, lateral (
       select d.due_at from deliveries d
       where d.endpoint_key = q.endpoint_key and d.retry = named.retry and d.state = 'waiting'
       order by d.due_at limit 1) as first
     where q.consecutive_failures = 0 and (q.open_until is null or q.open_until < now())
       and (least(q.new_due_at, q.retry_due_at) <= now()
         or q.endpoint_key in (select endpoint_key from deliveries where state = 'sending'))
       and first.due_at <= now()) as due on true
   group by queue`,
);

// A mail that is being sent, or that is sent again later, is not late.
const selectOldestDueMail = statement(
  'metrics_mails_oldest_due',
  `select coalesce(max(extract(epoch from now() - due_at)), 0)::float as value from (
     select due_at from mail_recipients where due_at <= now() and (claimed_until is null or claimed_until < now())
     order by due_at limit 1) as first`,
);

const gauges: readonly DatabaseGauge[] = [
  {
    name: 'quittance_deliveries_waiting',
    help: `Deliveries that wait to be sent, of all endpoints, up to ${WAITING_MAX}: first attempts (new) and later ones (retry).`,
    labels: ['queue'],
    read: reading(selectWaiting),
  },
  {
    name: 'quittance_deliveries_oldest_due_seconds',
    help: 'How long the oldest due delivery has waited, for endpoints that accept deliveries.',
    labels: ['queue'],
    read: reading(selectOldestDue),
  },
  {
    name: 'quittance_mails_oldest_due_seconds',
    help: 'How long the oldest due e-mail has waited.',
    read: reading(selectOldestDueMail),
  },
  ...messageGauges,
];

/** The outcome of an attempt: delivered, to be retried, given up, or its endpoint was disabled or deleted. */
const outcomes = {
  delivered: 'delivered',
  waiting: 'failed',
  exhausted: 'exhausted',
  cancelled: 'cancelled',
} as const satisfies Record<DeliveryUpdate['state'], string>;

export function webhooksMetrics(databaseUrl: string, logger: Logger) {
  const metrics = createMetrics({ logger, db: openMetricsDb('webhooks', databaseUrl, logger), gauges });
  const count = metrics.counter(
    {
      name: 'quittance_delivery_attempts_total',
      help: 'Delivery attempts by outcome. Failed ones are retried.',
    },
    { outcome: Object.values(outcomes) },
  );
  const countMail = metrics.counter(
    {
      name: 'quittance_mails_total',
      help: 'Attempts at e-mails by outcome. Those that are retried are sent again later.',
    },
    { outcome: mailOutcomes },
  );
  return {
    ...metrics,
    mailed: (outcome: MailOutcome): void => countMail({ outcome }),
    attempted(updates: readonly DeliveryUpdate[]): void {
      for (const { state } of updates) count({ outcome: outcomes[state] });
    },
  };
}
