import type { z } from 'zod';
import { ConfigError, loadConfig } from './config.ts';
import { armFailpoint } from './failpoint.ts';
import { createLogger, reason } from './logger.ts';
import { isOlder, tooOld } from './readiness.ts';

const DRAIN_MS = 10_000;
/** `JSON.parse` tells the source text of numbers, without which amounts would not be exact; and runs TypeScript as it stands. */
const NODE_WANTED = [24];

export type Running = {
  /** Accepts no more work, finishes what is in flight, closes connections. */
  stop(): Promise<void>;
  /** Where it runs before everything it needs is there: rejects when that comes and is nothing it may work with. */
  ready?: Promise<void>;
};

/**
 * Runs a service until it is told to stop: reads its settings from `env` and starts it. On SIGTERM or SIGINT it has ten
 * seconds to end; a second signal ends it at once. What keeps it from starting is one line on standard error, and it
 * exits with code 1.
 */
export async function runService<C extends { CRASH_AT?: string | undefined }>(
  service: string,
  schema: z.ZodType<C>,
  start: (config: C) => Promise<Running>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  let running: Running | undefined;
  let stopping = false;

  const stop = async () => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), DRAIN_MS).unref();
    await running?.stop();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
  // A defect: what is in flight is in an unknown state, and ends right only by a new start.
  process.on('uncaughtException', (error) => {
    createLogger(service, 'fatal').fatal({ err: error }, 'an error that nothing handles, the process ends');
    process.exit(1);
  });

  const refuse = (error: unknown): never => {
    // A wrong configuration names the service by itself.
    const why = error instanceof ConfigError ? error.message : `${service} cannot start: ${reason(error)}`;
    process.stderr.write(`${why}\n`);
    process.exit(1);
  };
  if (isOlder(process.versions.node, NODE_WANTED)) {
    refuse(tooOld('Node', process.versions.node, NODE_WANTED));
  }
  try {
    const config = loadConfig(service, schema, env);
    armFailpoint(config.CRASH_AT);
    running = await start(config);
  } catch (error) {
    refuse(error);
  }
  running?.ready?.catch(refuse);
}
