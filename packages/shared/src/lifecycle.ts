import { ConfigError } from './config.ts';
import { reason } from './logger.ts';

const DRAIN_MS = 10_000;

export type Running = {
  /** Stops taking work, ends what is under way, closes connections. */
  stop(): Promise<void>;
};

/**
 * Runs a service until it is told to stop. The first SIGTERM or SIGINT drains within ten seconds, a second
 * one stops at once. A wrong configuration is named in full and ends with code 1 before anything starts.
 */
export async function runService(start: () => Promise<Running>): Promise<void> {
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

  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : reason(error)}\n`);
    process.exit(1);
  }
}
