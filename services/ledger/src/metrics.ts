import { statement } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import {
  createMetrics,
  type DatabaseGauge,
  type Metrics,
  messageGauges,
  openMetricsDb,
  reading,
} from '@quittance/shared/metrics';

const selectOpenHolds = statement(
  'metrics_holds_open',
  `select asset, count(*)::float as value from holds where state = 'placed' group by asset`,
);

const selectOldestHolds = statement(
  'metrics_holds_oldest_open',
  `select asset, greatest(0, extract(epoch from now() - min(created_at)))::float as value
   from holds where state = 'placed' group by asset`,
);

const selectQuoteAges = statement(
  'metrics_quote_ages',
  `select asset, greatest(0, extract(epoch from now() - as_of))::float as value
   from quotes join assets on symbol = asset where active`,
);

const gauges: readonly DatabaseGauge[] = [
  {
    name: 'quittance_holds_open',
    help: 'Holds whose payouts have not ended.',
    labels: ['asset'],
    read: reading(selectOpenHolds),
  },
  {
    name: 'quittance_holds_oldest_open_seconds',
    help: 'Age of the oldest of them.',
    labels: ['asset'],
    read: reading(selectOldestHolds),
  },
  {
    name: 'quittance_quote_age_seconds',
    help: 'Age of the last rate that the sources of an asset agreed on, of those that merchants may use.',
    labels: ['asset'],
    read: reading(selectQuoteAges),
  },
  ...messageGauges,
];

export const ledgerMetrics = (databaseUrl: string, logger: Logger): Metrics =>
  createMetrics({ logger, db: openMetricsDb('ledger', databaseUrl, logger), gauges });
