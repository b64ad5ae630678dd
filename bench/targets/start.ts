import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Benchmark, Sample } from '../benchmark.ts';
import { cpuSeconds } from '../processes.ts';

const ROUNDS = 3;
const BARE_STARTS = 5;

export const startServices: Benchmark = {
  name: 'start',
  what: 'Start of the six services and the signer that a sandbox has, all at once, engines up, until each is ready. `CPU s`: what all of them took together.',
  yardstick: 'one `node -e 0`',
  target: { atMost: 40 },
  unit: 's',
  rounds: ROUNDS,
  async setUp(lab) {
    const quittance = await lab.quittance();
    return {
      ours: () => restartAll(quittance),
      theirs: bareStart,
      close: async () => undefined,
    };
  },
};

async function restartAll({ stack }: Quittance): Promise<Sample> {
  const services = Object.entries(stack.services);
  await Promise.all(services.map(([, service]) => service.stop()));
  const begun = performance.now();
  await Promise.all(services.map(([, service]) => service.restart()));
  const figure = (performance.now() - begun) / 1_000;
  const cpu = services.map(([name, { pid }]) => [name, pid === undefined ? 0 : cpuSeconds(pid)] as const);
  const all = cpu.reduce((sum, [, seconds]) => sum + seconds, 0);
  return {
    figure,
    more: { 'CPU s': all, ...Object.fromEntries(cpu.map(([name, s]) => [`${name} CPU s`, s])) },
  };
}

/** The mean of a few. */
export async function bareStart(): Promise<Sample> {
  const begun = performance.now();
  for (let i = 0; i < BARE_STARTS; i++)
    await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return { figure: (performance.now() - begun) / 1_000 / BARE_STARTS };
}
