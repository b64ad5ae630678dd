import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BusKeeper, keepBus } from '@quittance/shared/bus-setup';
import { createLogger } from '@quittance/shared/logger';

/** What `quittance nats provision --watch` is in production, in the sandbox's own process; it writes a log like the services. */
export function startBusKeeper(url: string, logDir: string): BusKeeper {
  mkdirSync(logDir, { recursive: true });
  const log = createWriteStream(join(logDir, 'keep-bus.log'), { flags: 'a' });
  const keeper = keepBus({ url, logger: createLogger('keep-bus', 'info', log) });
  return {
    made: keeper.made,
    async stop() {
      await keeper.stop();
      log.end();
    },
  };
}
