import type { ChainReader } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import { type Statement, statement } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import {
  createMetrics,
  type DatabaseGauge,
  type Metrics,
  messageGauges,
  openMetricsDb,
  type Sample,
} from '@quittance/shared/metrics';
import type { Ports, WatchedChain } from './ports.ts';

/** Gauges of the chains that are configured now: the cursor of a removed chain never moves. */
function gaugesOf(chains: Ports['chains']): readonly DatabaseGauge[] {
  const gauge = (name: DatabaseGauge['name'], help: string, sql: Statement): DatabaseGauge => ({
    name,
    help,
    labels: ['chain'],
    async read(db) {
      const samples = await db.rows<Sample & { chain: Chain }>(sql);
      return samples.filter(({ chain }) => chains.has(chain));
    },
  });
  return [
    gauge('quittance_chain_height', 'The height of the last applied block.', selectHeights),
    gauge(
      'quittance_chain_lag_seconds',
      'How long ago the chain was last synced: the node is down or lags, or the scanner does.',
      selectLags,
    ),
    gauge(
      'quittance_payments_contradicted',
      'Payments about which the node contradicts itself, and that are held.',
      selectContradictions,
    ),
    ...messageGauges,
  ];
}

const selectHeights = statement('metrics_heights', `select chain, height::float as value from cursors`);

const selectLags = statement(
  'metrics_chains_behind',
  `select chain, greatest(0, extract(epoch from now() - coalesce(synced_at, known_until)))::float as value
   from cursors`,
);

const selectContradictions = statement(
  'metrics_contradictions',
  `select c.chain, count(d.chain)::float as value
   from cursors c left join contradictions d on d.chain = c.chain and d.ended_at is null group by 1`,
);

/** The height of the node's head is reported by the replica that scans the chain. */
export function invoicesMetrics(
  databaseUrl: string,
  logger: Logger,
  { chains, openPageStreams }: Pick<Ports, 'chains'> & { openPageStreams(): number },
): Metrics {
  const db = openMetricsDb('invoices', databaseUrl, logger);
  const metrics = createMetrics({ logger, db, gauges: gaugesOf(chains) });
  const ofEach = (read: (watched: WatchedChain) => number | undefined) => () =>
    [...chains.values()].flatMap((watched): Sample[] => {
      const value = read(watched);
      return value === undefined ? [] : [{ chain: watched.chain, value }];
    });
  metrics.gauge({
    name: 'quittance_chain_node_height',
    help: 'The height of the node’s head at the last request.',
    labels: ['chain'],
    look: ofEach(({ headHeight }) => headHeight?.()),
  });
  metrics.gauge({
    name: 'quittance_chain_nodes_left_out',
    help: 'Of several nodes of a chain: how many were down, late or said something else than the quorum in the last minute.',
    labels: ['chain'],
    look: ofEach(({ reader }) => reader.nodesLeftOut?.()),
  });
  metrics.gauge({
    name: 'quittance_page_streams',
    help: 'Open streams of payment pages.',
    look: () => [{ value: openPageStreams() }],
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
