import { setInterval } from 'node:timers';
import { z } from 'zod';
import { runService } from '../src/lifecycle.ts';

/* A service whose work never ends, whatever it is told. */
async function start() {
  setInterval(() => undefined, 1_000);
  process.stdout.write('runs\n');
  return { stop: () => new Promise<never>(() => undefined) };
}

await runService('stubborn', z.object({ CRASH_AT: z.string().optional() }), start, {});
