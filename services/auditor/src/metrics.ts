import { assetSymbols } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import {
  createMetrics,
  type DatabaseGauge,
  type Metrics,
  messageGauges,
  type Sample,
} from '@quittance/shared/metrics';
import { inWholeUnits } from '@quittance/shared/whole-units';
import type { Ports } from './ports.ts';
import { lastCheck, lastComparisons } from './store/checks.ts';
import { knownDiscrepancies } from './store/discrepancies.ts';
import { type HaltInForce, haltsInForce } from './store/halts.ts';
import { sumsOfFunds } from './store/operator-funds.ts';

const ofEachAsset = (halts: readonly HaltInForce[]): Sample[] =>
  assetSymbols.map((asset) => ({ asset, value: halts.some((one) => one.asset === asset) ? 1 : 0 }));

/** Read from the database, so that all replicas report the same. */
const gauges: readonly DatabaseGauge[] = [
  {
    name: 'quittance_asset_halted',
    help: 'Payouts of the asset are halted until an operator resumes them.',
    labels: ['asset'],
    read: async (db) => ofEachAsset((await haltsInForce(db)).filter(({ inForce }) => inForce)),
  },
  {
    name: 'quittance_asset_halt_asked',
    help: 'The auditor or an operator has halted the asset.',
    labels: ['asset'],
    read: async (db) => ofEachAsset((await haltsInForce(db)).filter(({ asked }) => asked)),
  },
  {
    name: 'quittance_reconciliation_discrepancies',
    help: 'Discrepancies that were seen at least twice, accepted ones included.',
    labels: ['invariant', 'asset'],
    async read(db) {
      const seen = (await knownDiscrepancies(db)).filter(({ times }) => times > 1);
      const of = Map.groupBy(seen, ({ invariant, asset = 'none' }) => `${invariant} ${asset}`);
      return [...of.values()].flatMap((same) =>
        same.slice(0, 1).map(({ invariant, asset = 'none' }) => ({ invariant, asset, value: same.length })),
      );
    },
  },
  {
    name: 'quittance_reconciliation_checked_timestamp_seconds',
    help: 'When the records were last checked: new and open rows (recent), every row (whole).',
    labels: ['scope'],
    async read(db) {
      const samples: Sample[] = [];
      for (const scope of ['recent', 'whole'] as const) {
        const check = await lastCheck(db, scope);
        if (check !== undefined) samples.push({ scope, value: check.endedAt.getTime() / 1_000 });
      }
      return samples;
    },
  },
  {
    name: 'quittance_reconciliation_chain_compared',
    help: 'Whether the last comparison of the records with the chain succeeded.',
    labels: ['chain'],
    read: async (db) =>
      (await lastComparisons(db)).map(({ chain, compared }) => ({ chain, value: compared ? 1 : 0 })),
  },
  {
    name: 'quittance_operator_funds',
    help: 'What is at our addresses beside what is booked, in whole units of the asset: the money of the operator.',
    labels: ['asset'],
    read: async (db) =>
      (await sumsOfFunds(db)).map(({ asset, amount }) => ({ asset, value: inWholeUnits(asset, amount) })),
  },
  ...messageGauges,
];

/** How long a check may take before the nodes are asked again. */
const CHECK_MAX_MS = 120_000;

export type Seen = Pick<Ports, 'memory' | 'clock'> & { settings: Pick<Ports['settings'], 'chainsEveryMs'> };

export type AuditorMetricsOptions = { db: Db; logger: Logger; cachedMs?: number };

/** Reserves and liabilities are reported only by the replica that compares them with the chains. */
export function auditorMetrics(options: AuditorMetricsOptions, seen: Seen): Metrics {
  const metrics = createMetrics({ ...options, gauges });
  metrics.gauge({
    name: 'quittance_reserves',
    help: 'What our addresses hold on the chain or will receive, in whole units of the asset, at the last comparison.',
    labels: ['asset'],
    look: () => backing(seen, 'there'),
  });
  metrics.gauge({
    name: 'quittance_liabilities',
    help: 'What is owed to merchants, in whole units of the asset, at the same moment.',
    labels: ['asset'],
    look: () => backing(seen, 'owed'),
  });
  return metrics;
}

/** Only what this replica compared itself: by now another one may do it. */
function backing({ memory, clock, settings }: Seen, side: 'there' | 'owed'): Sample[] {
  const since = clock.now().getTime() - 2 * settings.chainsEveryMs - CHECK_MAX_MS;
  const latest = [...memory.values()].filter(({ lookedAt }) => (lookedAt?.getTime() ?? 0) > since);
  return latest.flatMap(({ balances }) =>
    [...balances.backing].map(([asset, sides]) => ({ asset, value: inWholeUnits(asset, sides[side]) })),
  );
}
