import { statement } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import { messageGauges } from '@quittance/shared/message-gauges';
import {
  createMetrics,
  type DatabaseGauge,
  type Metrics,
  openMetricsDb,
  reading,
} from '@quittance/shared/metrics';
import type { DeliveryUpdate } from './domain/outcome.ts';

const WAITING_MAX = 100_000;
const queues = `(values ('new', false), ('retry', true)) as named(queue, retry)`;

const selectWaiting = statement(
  'metrics_deliveries_waiting',
  `select queue, count(waiting.retry)::float as value from ${queues} left join (
     select retry from deliveries where state = 'waiting' limit ${WAITING_MAX}) as waiting using (retry)
   group by queue`,
);

// Of each healthy endpoint, the first of each kind that is due. A queue without a free slot has no due time: it has attempts in
// flight.
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

const gauges: readonly DatabaseGauge[] = [
  {
    name: 'quittance_deliveries_waiting',
    help: `Deliveries that wait to be sent, of all endpoints, up to ${WAITING_MAX}: what is new, and what is tried again.`,
    labels: ['queue'],
    read: reading(selectWaiting),
  },
  {
    name: 'quittance_deliveries_oldest_due_seconds',
    help: 'How long the delivery that is due longest waits to be sent, of endpoints that take what they are sent.',
    labels: ['queue'],
    read: reading(selectOldestDue),
  },
  ...messageGauges,
];

/** What an attempt came to: arrived, to be tried again, given up, or its endpoint is gone. */
const outcomes = {
  delivered: 'delivered',
  waiting: 'failed',
  exhausted: 'exhausted',
  cancelled: 'cancelled',
} as const satisfies Record<DeliveryUpdate['state'], string>;

export type WebhooksMetrics = Metrics & { attempted(updates: readonly DeliveryUpdate[]): void };

export function webhooksMetrics(databaseUrl: string, logger: Logger): WebhooksMetrics {
  const metrics = createMetrics({ logger, db: openMetricsDb('webhooks', databaseUrl, logger), gauges });
  const count = metrics.counter(
    {
      name: 'quittance_delivery_attempts_total',
      help: 'Attempts to deliver, by what came of them: failed ones are tried again.',
    },
    'outcome',
    Object.values(outcomes),
  );
  return {
    ...metrics,
    attempted(updates) {
      for (const { state } of updates) count(outcomes[state]);
    },
  };
}
