import { setInterval } from 'node:timers';
import { runService } from '../src/lifecycle.ts';

/* A service whose work never ends, whatever it is told. */
await runService('stubborn', async () => {
  setInterval(() => undefined, 1_000);
  process.stdout.write('runs\n');
  return { stop: () => new Promise<never>(() => undefined) };
});
