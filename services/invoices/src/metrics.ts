import type { ChainReader } from '@quittance/chains/chain';
import { statement } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import {
  createMetrics,
  type DatabaseGauge,
  type Metrics,
  messageGauges,
  openMetricsDb,
  type Sample,
} from '@quittance/shared/metrics';
import type { Ports } from './ports.ts';

const selectHeights = statement('metrics_heights', `select chain, height::float as value from cursors`);

const selectBehind = statement(
  'metrics_chains_behind',
  `select chain, greatest(0, extract(epoch from now() - coalesce(synced_at, known_until)))::float as value
   from cursors`,
);

const selectContradictions = statement(
  'metrics_contradictions',
  `select c.chain, count(d.chain)::float as value
   from cursors c left join contradictions d on d.chain = c.chain and d.ended_at is null group by 1`,
);

/** Only the chains that are configured now: the cursor of a removed chain never moves. */
const ofChains = (chains: Ports['chains'], samples: readonly (Sample & { chain: string })[]): Sample[] =>
  samples.filter(({ chain }) => chains.has(chain as never));

const gaugesOf = (chains: Ports['chains']): readonly DatabaseGauge[] => [
  {
    name: 'quittance_chain_height',
    help: 'The height of the last applied block.',
    labels: ['chain'],
    read: async (db) => ofChains(chains, await db.rows(selectHeights)),
  },
  {
    name: 'quittance_chain_lag_seconds',
    help: 'How long ago the chain was last synced: the node is down or lags, or the scanner does.',
    labels: ['chain'],
    read: async (db) => ofChains(chains, await db.rows(selectBehind)),
  },
  {
    name: 'quittance_payments_contradicted',
    help: 'Payments about which the node contradicts itself, and that are held.',
    labels: ['chain'],
    read: async (db) => ofChains(chains, await db.rows(selectContradictions)),
  },
  ...messageGauges,
];

/** The height of the node's head is reported by the replica that scans the chain. */
export function invoicesMetrics(databaseUrl: string, logger: Logger, chains: Ports['chains']): Metrics {
  const db = openMetricsDb('invoices', databaseUrl, logger);
  const metrics = createMetrics({ logger, db, gauges: gaugesOf(chains) });
  metrics.gauge({
    name: 'quittance_chain_node_height',
    help: 'The height of the node’s head at the last request.',
    labels: ['chain'],
    look: () =>
      [...chains.values()].flatMap(({ chain, headHeight }) => {
        const value = headHeight?.();
        return value === undefined ? [] : [{ chain, value }];
      }),
  });
  metrics.gauge({
    name: 'quittance_chain_nodes_left_out',
    help: 'Of several nodes of a chain: how many were down, late or said something else than the quorum in the last minute.',
    labels: ['chain'],
    look: () =>
      [...chains.values()].flatMap(({ chain, reader }) => {
        const value = reader.nodesLeftOut?.();
        return value === undefined ? [] : [{ chain, value }];
      }),
  });
  return metrics;
}

/** Keeps the height of the last head request: a scrape asks no node. */
export function trackingHead(reader: ChainReader): {
  reader: ChainReader;
  headHeight: () => number | undefined;
} {
  let height: number | undefined;
  const head = async () => {
    const found = await reader.head();
    height = found.height;
    return found;
  };
  return { reader: { ...reader, head }, headHeight: () => height };
}
