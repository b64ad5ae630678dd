import { setInterval } from 'node:timers';
import { z } from 'zod';
import { runService } from '../src/lifecycle.ts';
import { TIMES_AS_FAST } from './times-as-fast.ts';

/* A service whose work never ends, whatever it is told. In this process time passes faster, so that its test is short. */
const { setTimeout: inFull } = globalThis;
globalThis.setTimeout = ((work: () => void, ms: number) =>
  inFull(work, ms / TIMES_AS_FAST)) as typeof setTimeout;

async function start() {
  setInterval(() => undefined, 1_000);
  process.stdout.write('runs\n');
  return { stop: () => new Promise<never>(() => undefined) };
}

await runService('stubborn', z.object({ CRASH_AT: z.string().optional() }), start, {});
