import { assetSymbols, chains as knownChains } from '@quittance/shared/assets';
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
import { chainLease } from './operations/run-chain-worker.ts';
import type { Ports } from './ports.ts';
import { haltedAssets } from './store/halts.ts';
import { openPayouts, stalledPayouts } from './store/payouts.ts';

const states = `(values ('requested'), ('awaiting_approval'), ('reserved'), ('planned'), ('signed'), ('broadcast')) as state(status)`;

const selectOpen = statement(
  'metrics_payouts_open',
  `select status, count(created_at)::float as value
   from ${states} left join (${openPayouts}) as payout using (status) group by status`,
);

const selectOldest = statement(
  'metrics_payouts_oldest_open',
  `select status, coalesce(greatest(0, extract(epoch from now() - min(created_at))), 0)::float as value
   from ${states} left join (${openPayouts}) as payout using (status) group by status`,
);

const selectHotHeights = statement(
  'metrics_hot_heights',
  `select chain, height::float as value from hot_address_cursors`,
);

const selectMissing = statement(
  'metrics_transactions_missing',
  `select chain, count(missing_since)::float as value
   from unnest($1::text[]) as known(chain)
     left join (select chain, missing_since from transactions where missing_since is not null) as missing using (chain)
   group by chain`,
);

const selectLeaders = statement(
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
    name: 'quittance_payouts_stalled',
    help: 'Payouts that are pending for longer than their chain takes when everything works.',
    labels: ['chain'],
    async read(db) {
      const stalled = await stalledPayouts(db);
      return knownChains.map((chain) => ({ chain, value: stalled.get(chain)?.payouts ?? 0 }));
    },
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
    name: 'quittance_payouts_leader',
    help: 'Whether a replica has the lease to pay on the chain.',
    labels: ['chain'],
    async read(db) {
      const all = [...chains.values()];
      const found = await db.rows<{ name: string; value: number }>(selectLeaders, [all.map(chainLease)]);
      const leaders = new Map(found.map(({ name, value }) => [name, value]));
      return all.map((on) => ({ chain: on.chain, value: leaders.get(chainLease(on)) ?? 0 }));
    },
  },
  {
    name: 'quittance_transactions_missing',
    help: 'Settled transactions that a reorganisation has dropped and that are sent again.',
    labels: ['chain'],
    read: (db) => db.rows<{ chain: string; value: number }>(selectMissing, [[...chains.keys()]]),
  },
  {
    name: 'quittance_hot_wallet_height',
    help: 'Up to which block money of the operator was looked for at the hot address.',
    labels: ['chain'],
    read: reading(selectHotHeights),
  },
  ...messageGauges,
];

/** Only the replicas that found the reason export that signing is paused. */
export function payoutsMetrics(databaseUrl: string, logger: Logger, chains: Ports['chains']): Metrics {
  const db = openMetricsDb('payouts', databaseUrl, logger);
  const metrics = createMetrics({ logger, db, gauges: gaugesOf(chains) });
  metrics.gauge({
    name: 'quittance_signing_paused',
    help: 'Nothing is signed on the chain: the wrong network or wallet, or a history that the database does not know.',
    labels: ['chain'],
    look: () =>
      [...chains.values()].map(({ chain, signingPause }) => ({
        chain,
        value: signingPause.reason === undefined ? 0 : 1,
      })),
  });
  return metrics;
}
