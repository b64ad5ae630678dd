import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@quittance/engines/free-port';
import type { Engine } from '@quittance/engines/process';
import type { Service } from '@quittance/shared/events';
import { startServiceProcess } from '@quittance/stack/service-process';
import type { Quittance } from '@quittance/testkit/quittance';

export type Replica = {
  engine: Engine;
  url: string;
  /** What it has logged, a line each. */
  log(): string[];
  stop(): Promise<void>;
};

/** One more process of a service beside the stack's own, with the same settings but for those given. */
export async function startReplica(
  { stack }: Quittance,
  service: Service,
  settings: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const port = await freePort();
  const logDir = mkdtempSync(join(tmpdir(), `quittance-${service}-`));
  const env = { ...stack.settingsOf(service), ...settings, PORT: String(port) };
  const engine = await startServiceProcess({ service, port, env, logDir });
  return {
    engine,
    url: `http://127.0.0.1:${port}`,
    log: () =>
      readdirSync(logDir)
        .flatMap((file) => readFileSync(join(logDir, file), 'utf8').split('\n'))
        .filter((line) => line !== ''),
    async stop() {
      await engine.stop();
      rmSync(logDir, { recursive: true, force: true });
    },
  };
}
