import { assetSymbols } from '@quittance/shared/assets';
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
import { engineLease } from './operations/run-engine.ts';
import type { Ports } from './ports.ts';
import { haltedAssets } from './store-halts.ts';

// Those that are signed are found by their transactions: of all that ever were, only the open ones have an index. The
// offsets keep Postgres to that order.
const open = `
  select status, created_at from payouts where status = 'requested'
  union all select status, created_at from payouts where status = 'reserved'
  union all select paid.status, paid.created_at
  from (select distinct payout_id from transactions t,
      lateral (select payout_id from payments where family = t.family offset 0) as of_family
    where t.state in ('signed', 'broadcast')) as under_way,
    lateral (select status, created_at from payouts where id = payout_id offset 0) as paid
  where paid.status in ('signed', 'broadcast')`;
const states = `(values ('requested'), ('reserved'), ('signed'), ('broadcast')) as state(status)`;

const selectOpen = statement(
  'metrics_payouts_open',
  `select status, count(created_at)::float as value
   from ${states} left join (${open}) as payout using (status) group by status`,
);

const selectOldest = statement(
  'metrics_payouts_oldest_open',
  `select status, coalesce(greatest(0, extract(epoch from now() - min(created_at))), 0)::float as value
   from ${states} left join (${open}) as payout using (status) group by status`,
);

const selectHotHeights = statement(
  'metrics_hot_heights',
  `select chain, height::float as value from coin_cursors`,
);

const selectLed = statement(
  'metrics_engines_led',
  `select name, (expires_at > clock_timestamp())::int::float as value from leases where name = any($1::text[])`,
);

const gaugesOf = (chains: Ports['chains']): readonly DatabaseGauge[] => [
  {
    name: 'quittance_payouts_open',
    help: 'Payouts that have not ended, by how far they are.',
    labels: ['status'],
    read: reading(selectOpen),
  },
  {
    name: 'quittance_payouts_oldest_open_seconds',
    help: 'Age of the oldest of them; 0 when there is none.',
    labels: ['status'],
    read: reading(selectOldest),
  },
  {
    name: 'quittance_payouts_halted',
    help: 'Nothing new is signed for the asset: the auditor or an operator has halted it.',
    labels: ['asset'],
    async read(db) {
      const halted = await haltedAssets(db);
      return assetSymbols.map((asset) => ({ asset, value: halted.has(asset) ? 1 : 0 }));
    },
  },
  {
    name: 'quittance_engine_led',
    help: 'Whether a replica has the lease to pay on the chain.',
    labels: ['chain'],
    async read(db) {
      const all = [...chains.values()];
      const found = await db.rows<{ name: string; value: number }>(selectLed, [all.map(engineLease)]);
      const led = new Map(found.map(({ name, value }) => [name, value]));
      return all.map((on) => ({ chain: on.chain, value: led.get(engineLease(on)) ?? 0 }));
    },
  },
  {
    name: 'quittance_hot_wallet_height',
    help: 'Up to which block money of the operator was looked for at the hot address.',
    labels: ['chain'],
    read: reading(selectHotHeights),
  },
  ...messageGauges,
];

/** Whether an engine is barred only by the replicas that find it so. */
export function payoutsMetrics(databaseUrl: string, logger: Logger, chains: Ports['chains']): Metrics {
  const db = openMetricsDb('payouts', databaseUrl, logger);
  const metrics = createMetrics({ logger, db, gauges: gaugesOf(chains) });
  metrics.gauge({
    name: 'quittance_engine_barred',
    help: 'Nothing is signed on the chain: the wrong network or wallet, or a history that the database does not know.',
    labels: ['chain'],
    look: () =>
      [...chains.values()].map(({ chain, signingBar }) => ({
        chain,
        value: signingBar.reason === undefined ? 0 : 1,
      })),
  });
  return metrics;
}
