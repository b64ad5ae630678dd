import { fileURLToPath } from 'node:url';
import { freePort } from '@quittance/engines/free-port';
import { type Engine, startEngine } from '@quittance/engines/process';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import type { Comparison } from './compare.ts';

const CLIENTS = 32;

export type ReadOptions = { name: string; path: string; target: number; shop: Merchant; redisUrl: string };

/** A read of ours against the bare path: a stub gateway before a stub service that answers with the same body. */
export async function readThroughGateway({
  name,
  path,
  target,
  shop,
  redisUrl,
}: ReadOptions): Promise<Comparison & { end(): Promise<void> }> {
  const body = JSON.stringify((await shop.get(path)).body);
  const upstream = await stub('upstream', (port) => [String(port), body]);
  const gateway = await stub('gateway', (port) => [String(port), upstream.url, redisUrl]);
  const bare = merchant(gateway.url, 'stub', 'token');
  const read = async (from: Merchant) => {
    const answer = await from.get(path);
    if (answer.status !== 200) throw new Error(`GET ${path} answers ${answer.status}`);
  };
  return {
    name,
    yardstick: 'stub gateway before a stub service',
    target,
    clients: CLIENTS,
    ours: () => read(shop),
    theirs: () => read(bare),
    end: async () => {
      await gateway.engine.stop();
      await upstream.engine.stop();
    },
  };
}

async function stub(
  name: 'gateway' | 'upstream',
  argumentsOf: (port: number) => string[],
): Promise<{ url: string; engine: Engine }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = fileURLToPath(new URL(`./stubs/${name}.ts`, import.meta.url));
  const engine = await startEngine({
    name: `stub ${name}`,
    command: () => ({ file: process.execPath, args: [file, ...argumentsOf(port)] }),
    ask: async () => void (await fetch(`${url}/healthz`)),
    stopSignal: 'SIGTERM',
  });
  return { url, engine };
}
