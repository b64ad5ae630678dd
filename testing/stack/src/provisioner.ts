import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Provisioner, startProvisioner } from '@quittance/shared/bus-setup';
import { createLogger } from '@quittance/shared/logger';

/** What `quittance nats provision --watch` is in production, in the sandbox's own process; it writes a log like the services. */
export function startNatsProvisioner(url: string, logDir: string, replicas = 1): Provisioner {
  mkdirSync(logDir, { recursive: true });
  const log = createWriteStream(join(logDir, 'provisioner.log'), { flags: 'a' });
  const provisioner = startProvisioner({ url, replicas, logger: createLogger('provisioner', 'info', log) });
  return {
    made: provisioner.made,
    async stop() {
      await provisioner.stop();
      log.end();
    },
  };
}
