import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Engine, type EngineOptions, startEngine } from '@quittance/engines/process';
import type { Service } from '@quittance/shared/events';

const ASK_WITHIN_MS = 2_000;
/** What Node has compiled is kept: a service then starts in half the time. Where it cannot be written, Node goes without. */
export const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

/** An image names its own, which was filled when it was built. */
const compiled = (): string => process.env['NODE_COMPILE_CACHE'] ?? COMPILED;

export type ServiceOptions = {
  service: Service;
  port: number;
  env: Readonly<Record<string, string>>;
  logDir: string;
  /** Files of this machine that its settings name: what is no process of it has to be given them. */
  reads?: readonly string[];
} & Pick<EngineOptions, 'launch' | 'readyWithinMs' | 'onUnexpectedExit'>;

/** Starts one service, by itself as a process of its own, and returns when it is ready to serve. */
export async function startServiceProcess(options: ServiceOptions): Promise<Engine> {
  const { service, port, env, logDir, launch, readyWithinMs } = options;
  mkdirSync(logDir, { recursive: true });
  const log = createWriteStream(join(logDir, `${service}.log`), { flags: 'a' });
  return await startEngine({
    name: service,
    command: () => ({
      file: process.execPath,
      args: [fileURLToPath(new URL(`../../../services/${service}/src/main.ts`, import.meta.url))],
      env: launch === undefined ? { NODE_COMPILE_CACHE: compiled(), ...env } : env,
    }),
    launch,
    readyWithinMs,
    ask: () => askWhetherReady(port),
    stopSignal: 'SIGTERM',
    log: (line) => log.write(`${line}\n`),
    onUnexpectedExit: options.onUnexpectedExit,
  });
}

async function askWhetherReady(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
    signal: AbortSignal.timeout(ASK_WITHIN_MS),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`it is not ready: ${body}`);
}
