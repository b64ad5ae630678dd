import type { ChainReader } from '@quittance/chains/chain';
import { statement } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import { messageGauges } from '@quittance/shared/message-gauges';
import {
  createMetrics,
  type DatabaseGauge,
  type Metrics,
  openMetricsDb,
  type Sample,
} from '@quittance/shared/metrics';
import type { Ports } from './ports.ts';

const selectHeights = statement('metrics_heights', `select chain, height::float as value from cursors`);

const selectBehind = statement(
  'metrics_chains_behind',
  `select chain, greatest(0, extract(epoch from now() - coalesce(caught_up_at, known_until)))::float as value
   from cursors`,
);

const selectContradictions = statement(
  'metrics_contradictions',
  `select c.chain, count(d.chain)::float as value
   from cursors c left join contradictions d on d.chain = c.chain and d.ended_at is null group by 1`,
);

/** Of the chains that are followed now: one that was switched off stays where it was. */
const ofChains = (chains: Ports['chains'], samples: readonly (Sample & { chain: string })[]): Sample[] =>
  samples.filter(({ chain }) => chains.has(chain as never));

const gaugesOf = (chains: Ports['chains']): readonly DatabaseGauge[] => [
  {
    name: 'quittance_chain_height',
    help: 'How far the chain was followed.',
    labels: ['chain'],
    read: async (db) => ofChains(chains, await db.rows(selectHeights)),
  },
  {
    name: 'quittance_chain_behind_seconds',
    help: 'Since when the head of the node was not reached: a node that is away or lags, or a scanner that does.',
    labels: ['chain'],
    read: async (db) => ofChains(chains, await db.rows(selectBehind)),
  },
  {
    name: 'quittance_payments_contradicted',
    help: 'Payments that the node told twice, in two blocks or with other contents, and that are held back.',
    labels: ['chain'],
    read: async (db) => ofChains(chains, await db.rows(selectContradictions)),
  },
  ...messageGauges,
];

/** The height of the node's head only by the replica that follows the chain. */
export function invoicesMetrics(databaseUrl: string, logger: Logger, chains: Ports['chains']): Metrics {
  const db = openMetricsDb('invoices', databaseUrl, logger);
  const metrics = createMetrics({ logger, db, gauges: gaugesOf(chains) });
  metrics.gauge({
    name: 'quittance_chain_node_height',
    help: 'The head of the node, as it was asked for last.',
    labels: ['chain'],
    look: () =>
      [...chains.values()].flatMap(({ chain, headHeight }) => {
        const value = headHeight?.();
        return value === undefined ? [] : [{ chain, value }];
      }),
  });
  return metrics;
}

/** Remembers the head that is asked for anyway: no scrape asks a node. */
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
