import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, PortTaken } from './free-port.ts';
import { type NatsHandle, type NatsOptions, startNats } from './nats.ts';
import { EngineFailed } from './process.ts';

/** As many as a quorum survives one of. */
export const NATS_NODES = 3;

const TRIES_MAX = 5;
const ASK_EVERY_MS = 50;
const ASK_WITHIN_MS = 2_000;
const TOGETHER_WITHIN_MS = 20_000;

/** What the node of this place calls itself. */
export const natsNode = (i: number): string => `node-${i}`;

const folderOf = ({ dataDir }: NatsOptions, i: number) => join(dataDir, natsNode(i));

/**
 * Three new nats-servers that are one NATS. The first has the port of `options`; each keeps its data in a folder of its own. One of
 * some twenty such clusters counts two members for ever, and refuses three replicas: nats-server 2.10 leaves out a node of which
 * it has not heard, when the first leader is elected, that it has JetStream. Such a cluster is begun again.
 */
export async function startNatsCluster(options: NatsOptions): Promise<NatsHandle[]> {
  let failure: unknown;
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const { started, monitors } = await startNodes(options);
    const nodes = started.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    // Somebody else may have taken the port of a route meanwhile.
    failure = started.find((one) => one.status === 'rejected')?.reason;
    if (failure === undefined && (await areTogether(monitors))) return nodes;
    await Promise.all(nodes.map((node) => node.stop()));
    for (const [i] of started.entries()) rmSync(folderOf(options, i), { recursive: true, force: true });
    // The port of `options`, maybe: the caller has to choose another one.
    if (failure instanceof PortTaken) throw failure;
  }
  const what = `${NATS_NODES} nats-servers did not become one cluster in ${TRIES_MAX} tries`;
  throw new EngineFailed(what, { cause: failure });
}

type Started = { started: PromiseSettledResult<NatsHandle>[]; monitors: number[] };

async function startNodes(options: NatsOptions): Promise<Started> {
  const portOfEach = () => Promise.all(Array.from({ length: NATS_NODES }, freePort));
  const [routes, monitors] = await Promise.all([portOfEach(), portOfEach()]);
  const urls = routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  const started = await Promise.allSettled(
    routes.map((route, i) =>
      startNats({
        ...options,
        dataDir: folderOf(options, i),
        port: i === 0 ? options.port : 0,
        config: `${options.config ?? ''}
server_name: "${natsNode(i)}"
http: "127.0.0.1:${monitors[i]}"
cluster { name: "quittance", listen: "127.0.0.1:${route}", routes: [${urls}] }`,
      }),
    ),
  );
  return { started, monitors };
}

/** Whether the leader of the cluster knows of the others. One that counts fewer never learns of more. */
async function areTogether(monitors: readonly number[]): Promise<boolean> {
  const deadline = performance.now() + TOGETHER_WITHIN_MS;
  while (performance.now() < deadline) {
    for (const port of monitors) {
      const { cluster_size: members, replicas: others = [] } = await membersAt(port);
      if (others.length === NATS_NODES - 1) return true;
      if (members !== undefined && members < NATS_NODES) return false;
    }
    await sleep(ASK_EVERY_MS);
  }
  return false;
}

/** As the monitoring of nats-server tells it: `replicas` only at the leader. */
type Members = { cluster_size?: number; replicas?: unknown[] };

/** Nothing of a node that does not answer yet. */
async function membersAt(port: number): Promise<Members> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/jsz`, {
      signal: AbortSignal.timeout(ASK_WITHIN_MS),
    });
    const { meta_cluster: members = {} } = (await answer.json()) as { meta_cluster?: Members };
    return members;
  } catch {
    return {};
  }
}
