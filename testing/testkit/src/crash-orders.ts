import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

const PRELOAD = new URL('obey-crash-orders.ts', import.meta.url).href;
const OBEYED_WITHIN_MS = 30_000;

/**
 * Tells processes that run already where to die: to restart each of them only to give it `CRASH_AT` costs as much as
 * the death itself.
 */
export function crashOrders(dir: string) {
  const fileOf = (name: string) => join(dir, `${name}.crash`);
  return {
    /** What a process that is to obey is started with. */
    environment: (name: string): Record<string, string> => ({
      NODE_OPTIONS: `--import=${PRELOAD}`,
      CRASH_ORDERS: fileOf(name),
    }),
    /** Returns when the process has understood. */
    async give(name: string, pid: number, point: string): Promise<void> {
      writeFileSync(fileOf(name), point);
      process.kill(pid, 'SIGUSR2');
      await eventually(
        () => {
          if (existsSync(fileOf(name))) throw new Error(`${name} does not take the order to die at ${point}`);
        },
        OBEYED_WITHIN_MS,
        5,
      ).finally(() => rmSync(fileOf(name), { force: true }));
    },
  };
}
