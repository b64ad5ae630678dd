import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import { messageGauges } from '@quittance/shared/message-gauges';
import { createMetrics, type DatabaseGauge, type Metrics, type Sample } from '@quittance/shared/metrics';
import { formatUnits, units } from '@quittance/shared/money';
import type { Ports } from './ports.ts';
import { knownBreaches } from './store/breaches.ts';
import { lastCheck, lastComparisons } from './store/checks.ts';
import { type HaltInForce, haltsInForce } from './store/halts.ts';

const ofEachAsset = (halts: readonly HaltInForce[]): Sample[] =>
  assetSymbols.map((asset) => ({ asset, value: halts.some((one) => one.asset === asset) ? 1 : 0 }));

/** Read from the database, so that every replica says the same. */
const gauges: readonly DatabaseGauge[] = [
  {
    name: 'quittance_asset_halted',
    help: 'Payouts of the asset do halt, and wait for an operator.',
    labels: ['asset'],
    read: async (db) => ofEachAsset((await haltsInForce(db)).filter(({ inForce }) => inForce)),
  },
  {
    name: 'quittance_asset_halt_asked',
    help: 'Payouts was asked to halt the asset: its books are wrong, or an operator wants it.',
    labels: ['asset'],
    read: async (db) => ofEachAsset((await haltsInForce(db)).filter(({ asked }) => asked)),
  },
  {
    name: 'quittance_books_breaches',
    help: 'Breaches of the books that were seen at least twice, accepted ones too.',
    labels: ['invariant', 'asset'],
    async read(db) {
      const seen = (await knownBreaches(db)).filter(({ times }) => times > 1);
      const of = Map.groupBy(seen, ({ invariant, asset = 'none' }) => `${invariant} ${asset}`);
      return [...of.values()].flatMap((same) =>
        same.slice(0, 1).map(({ invariant, asset = 'none' }) => ({ invariant, asset, value: same.length })),
      );
    },
  },
  {
    name: 'quittance_books_checked_timestamp_seconds',
    help: 'When the books were checked last: what is new, and every row there is.',
    labels: ['extent'],
    async read(db) {
      const samples: Sample[] = [];
      for (const extent of ['recent', 'whole'] as const) {
        const check = await lastCheck(db, extent);
        if (check !== undefined) samples.push({ extent, value: check.endedAt.getTime() / 1_000 });
      }
      return samples;
    },
  },
  {
    name: 'quittance_books_chain_compared',
    help: 'Whether the books were compared with the chain at the last check that asked its node.',
    labels: ['chain'],
    read: async (db) =>
      (await lastComparisons(db)).map(({ chain, compared }) => ({ chain, value: compared ? 1 : 0 })),
  },
  ...messageGauges,
];

/** So long a check may take after which the nodes are asked again. */
const CHECK_MAX_MS = 120_000;

export type Seen = Pick<Ports, 'memory' | 'clock'> & { settings: Pick<Ports['settings'], 'chainsEveryMs'> };

export type AuditorMetricsOptions = { db: Db; logger: Logger; cachedMs?: number };

/** What Prometheus is told; reserves and liabilities only by the replica that compares them with the chains. */
export function auditorMetrics(options: AuditorMetricsOptions, seen: Seen): Metrics {
  const metrics = createMetrics({ ...options, gauges });
  metrics.gauge({
    name: 'quittance_reserves',
    help: 'What lies on the chain or is on its way there, in whole coins, as it was compared last.',
    labels: ['asset'],
    look: () => backing(seen, 'there'),
  });
  metrics.gauge({
    name: 'quittance_liabilities',
    help: 'What merchants are owed, in whole coins, at the same moment.',
    labels: ['asset'],
    look: () => backing(seen, 'owed'),
  });
  return metrics;
}

/** What this replica has compared itself; another one may do it now. */
function backing({ memory, clock, settings }: Seen, side: 'there' | 'owed'): Sample[] {
  const since = clock.now().getTime() - 2 * settings.chainsEveryMs - CHECK_MAX_MS;
  const latest = [...memory.values()].filter(({ lookedAt }) => (lookedAt?.getTime() ?? 0) > since);
  return latest.flatMap(({ balances }) =>
    [...balances.backing].map(([asset, sides]) => ({ asset, value: inCoins(asset, sides[side]) })),
  );
}

function inCoins(asset: AssetSymbol, amount: bigint): number {
  // eslint-disable-next-line no-restricted-syntax -- for a graph; what is owed and what is there are compared exactly elsewhere
  return Number(formatUnits(units(amount), assets[asset].decimals));
}
