import type { NatsHandle, NatsOptions } from '@quittance/engines/nats';
import { NATS_NODES, natsNode, startNatsCluster } from '@quittance/engines/nats-cluster';
import { STREAM } from '@quittance/shared/bus-connection';
import { ADMIN } from '@quittance/shared/bus-permissions';
import type { Stack } from '@quittance/stack/stack';
import { eventually } from '@quittance/testkit/eventually';
import { connect } from 'nats';

/** Most often it takes six to thirteen seconds; once forty were not enough. Nothing is claimed of it. */
const HAS_ALL_WITHIN_MS = 60_000;

/** Three nats-servers that are one NATS: each stream is on all of them, and two of the three decide. */
export type NatsCluster = {
  /** What starts it, in place of one server. */
  start(options: NatsOptions): Promise<NatsHandle>;
  nodes: NatsHandle[];
  /** The node that takes what is published. */
  leader(stack: Stack): Promise<NatsHandle>;
  /** Waits until every node has all of the stream. */
  complete(stack: Stack): Promise<void>;
};

export function natsCluster(): NatsCluster {
  const nodes: NatsHandle[] = [];

  /** What its nodes say of the stream's, asked at any of them that runs. */
  async function replicas(stack: Stack) {
    const { username, password } = new URL(stack.busUrl(ADMIN));
    const servers = nodes.filter(({ pid }) => pid !== undefined).map(({ url }) => new URL(url).host);
    const bus = await connect({ servers, user: username, pass: password });
    try {
      const { cluster } = await (await bus.jetstreamManager()).streams.info(STREAM);
      return { leader: cluster?.leader, others: cluster?.replicas ?? [] };
    } finally {
      await bus.close();
    }
  }

  return {
    nodes,
    async start(options) {
      const started = await startNatsCluster(options);
      nodes.push(...started);
      const [first] = started as [NatsHandle];
      return {
        ...first,
        get pid() {
          return first.pid;
        },
        stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
      };
    },
    async leader(stack) {
      return await eventually(async () => {
        const { leader } = await replicas(stack);
        const found = nodes.find((_, i) => natsNode(i) === leader);
        if (found === undefined) throw new Error('the stream has no leader');
        return found;
      });
    },
    async complete(stack) {
      await eventually(async () => {
        const { leader, others } = await replicas(stack);
        const current = others.filter((one) => one.current && one.offline !== true);
        if (leader === undefined || current.length < NATS_NODES - 1)
          throw new Error(`the leader ${leader} says of the others: ${JSON.stringify(others)}`);
      }, HAS_ALL_WITHIN_MS);
    },
  };
}
