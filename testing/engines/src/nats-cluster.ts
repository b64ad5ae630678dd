import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { type NatsHandle, type NatsOptions, startNats } from './nats.ts';

/** As many as a quorum survives one of. */
export const NATS_NODES = 3;

/** What the node of this place calls itself. */
export const natsNode = (i: number): string => `node-${i}`;

/** Three nats-servers that are one NATS. The first has the port of `options`; each keeps its data in a folder of its own. */
export async function startNatsCluster(options: NatsOptions): Promise<NatsHandle[]> {
  const routes = await Promise.all(Array.from({ length: NATS_NODES }, freePort));
  const urls = routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  return await Promise.all(
    routes.map((route, i) =>
      startNats({
        ...options,
        dataDir: join(options.dataDir, natsNode(i)),
        port: i === 0 ? options.port : 0,
        config: `${options.config ?? ''}
server_name: "${natsNode(i)}"
cluster { name: "quittance", listen: "127.0.0.1:${route}", routes: [${urls}] }`,
      }),
    ),
  );
}
