import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';
import { type Statement, statement } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import {
  createMetrics,
  type DatabaseGauge,
  messageGauges,
  openMetricsDb,
  reading,
} from '@quittance/shared/metrics';
import { type Units, units } from '@quittance/shared/money';
import type { ProcessedEvent } from '@quittance/shared/process-messages';
import { inWholeUnits } from '@quittance/shared/whole-units';
import { type HoldProblem, holdProblems } from './domain/asked-hold.ts';

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

// An operator may stop quoting a currency: after a week it is no longer missed.
const selectFiatRateAges = statement(
  'metrics_fiat_rate_ages',
  `select asset as currency, greatest(0, extract(epoch from now() - as_of))::float as value
   from quotes where not exists (select from assets where symbol = asset) and as_of > now() - interval '7 days'`,
);

const byAsset = (name: DatabaseGauge['name'], help: string, sql: Statement): DatabaseGauge => ({
  name,
  help,
  labels: ['asset'],
  read: reading(sql),
});

const gauges: readonly DatabaseGauge[] = [
  byAsset('quittance_holds_open', 'Holds whose payouts have not ended.', selectOpenHolds),
  byAsset('quittance_holds_oldest_open_seconds', 'Age of the oldest of them.', selectOldestHolds),
  byAsset(
    'quittance_quote_age_seconds',
    'Age of the last rate that the sources of an asset agreed on, of those that merchants may use.',
    selectQuoteAges,
  ),
  {
    name: 'quittance_fiat_rate_age_seconds',
    help: 'Age of the last rate that the sources of a currency agreed on, of those with a rate in the last seven days.',
    labels: ['currency'],
    read: reading(selectFiatRateAges),
  },
  ...messageGauges,
];

export function ledgerMetrics(databaseUrl: string, logger: Logger) {
  const metrics = createMetrics({ logger, db: openMetricsDb('ledger', databaseUrl, logger), gauges });
  const countUnasked = metrics.counter(
    {
      name: 'quittance_holds_not_asked_for_total',
      help: 'Holds that were refused because no request of their account asks for them, by what is wrong.',
    },
    { problem: holdProblems },
  );
  const countMoved = metrics.counter(
    {
      name: 'quittance_moved_amount_total',
      help: 'What came from customers (credited, unresolved) and left for good (paid_out), in whole units of the asset.',
    },
    { flow: flows, asset: assetSymbols },
  );
  return {
    ...metrics,
    countUnasked: (problem: HoldProblem): void => countUnasked({ problem }),
    /** Counts the money that these events have moved. */
    countMoved(events: readonly ProcessedEvent[]): void {
      for (const event of events) {
        const move = movedBy(event);
        if (move === undefined) continue;
        const { flow, asset, amount } = move;
        countMoved({ flow, asset }, inWholeUnits(asset, amount));
      }
    },
  };
}

const flows = ['credited', 'unresolved', 'paid_out'] as const;

type Moved = { flow: (typeof flows)[number]; asset: AssetSymbol; amount: Units };

function movedBy({ kind, payload }: ProcessedEvent): Moved | undefined {
  if (kind === 'hold.settle') return moved('paid_out', payload);
  if (kind !== 'deposit.settled') return undefined;
  return moved(payload.disposition === 'credit' ? 'credited' : 'unresolved', payload);
}

const moved = (flow: Moved['flow'], { asset, amount }: { asset: AssetSymbol; amount: string }): Moved => ({
  flow,
  asset,
  amount: units(amount),
});
