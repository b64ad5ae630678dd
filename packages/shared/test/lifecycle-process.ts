import { setInterval } from 'node:timers';
import { z } from 'zod';
import { runService } from '../src/lifecycle.ts';

/* A service whose work never ends, whatever it is told. How fast time passes in this process is its argument. */
const timesAsFast = Number(process.argv[2]); // eslint-disable-line no-restricted-syntax -- a factor
const { setTimeout: inFull } = globalThis;
globalThis.setTimeout = ((work: () => void, ms: number) =>
  inFull(work, ms / timesAsFast)) as typeof setTimeout;

async function start() {
  setInterval(() => undefined, 1_000);
  process.on('SIGUSR2', () => {
    throw new Error('a defect, with "quotes"');
  });
  process.stdout.write('runs\n');
  return {
    stop() {
      process.stdout.write('stops\n');
      return new Promise<never>(() => undefined);
    },
  };
}

await runService('stubborn', z.object({ CRASH_AT: z.string().optional() }), start, {});
