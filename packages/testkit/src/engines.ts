import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnvilHandle, type AnvilOptions, startAnvil } from '@quittance/engines/anvil';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import { type RedisHandle, startRedis } from '@quittance/engines/redis';

export { type TestDatabase, testDatabase } from './databases.ts';

/** A nats-server with JetStream of this suite's own; its data goes with it. */
export async function testNats(): Promise<NatsHandle> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
  const nats = await startNats({ dataDir, port: 0 });
  return withDataDir(nats, dataDir);
}

/** A redis-server of this suite's own. */
export const testRedis = (): Promise<RedisHandle> => startRedis({ port: 0 });

/** An Ethereum node of this suite's own; it mines when told to. */
export const testAnvil = (options: Partial<AnvilOptions> = {}): Promise<AnvilHandle> =>
  startAnvil({ port: 0, mining: 'manual', ...options });

function withDataDir<E extends NatsHandle>(engine: E, dataDir: string): E {
  const stop = engine.stop;
  return Object.assign(engine, {
    stop: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
}
