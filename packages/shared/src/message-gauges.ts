import { type Statement, statement } from './db.ts';
import { type DatabaseGauge, reading } from './metrics.ts';

const UNSENT_MAX = 100_000;

const selectUnsent = statement(
  'metrics_outbox_unsent',
  `select count(*)::float as value from (select from outbox where sent_at is null limit ${UNSENT_MAX}) as unsent`,
);

const ageOfFirst = (name: string, which: string): Statement =>
  statement(
    name,
    `select coalesce((select greatest(0, extract(epoch from now() - created_at)) from outbox
       where ${which} order by seq limit 1), 0)::float as value`,
  );

const selectOldestUnsent = ageOfFirst('metrics_outbox_oldest_unsent', 'sent_at is null');
const selectOldestUnconfirmed = ageOfFirst(
  'metrics_outbox_oldest_unconfirmed',
  'confirmed_at is null and sent_at is not null',
);
const selectDeadLetters = statement(
  'metrics_dead_letters',
  `select count(*)::float as value from dead_letters`,
);

/** How the talk between the services goes, of each that has an outbox and an inbox. */
export const messageGauges: readonly DatabaseGauge[] = [
  {
    name: 'quittance_outbox_unsent',
    help: `Events that are written and not yet on the bus, up to ${UNSENT_MAX}.`,
    read: reading(selectUnsent),
  },
  {
    name: 'quittance_outbox_oldest_unsent_seconds',
    help: 'Age of the oldest event that is not yet on the bus; 0 when there is none.',
    read: reading(selectOldestUnsent),
  },
  {
    name: 'quittance_outbox_oldest_unconfirmed_seconds',
    help: 'Age of the oldest event that was sent and is not known to be in the inbox of all it is for; 0 when there is none.',
    read: reading(selectOldestUnconfirmed),
  },
  {
    name: 'quittance_dead_letters',
    help: 'Events that this service failed to process after many attempts.',
    read: reading(selectDeadLetters),
  },
];
