import type { Process, SimService } from './process.ts';
import type { World } from './world.ts';

const CLIENT_TIMEOUT_MS = 12_000;

/** What somebody outside asks a process over HTTP: its answer, its failure, or nothing in time. */
export async function callOverHttp<T>(
  world: World,
  service: SimService,
  name: string,
  work: (process: Process) => Promise<T>,
): Promise<{ value: T } | { error: unknown } | undefined> {
  const { scheduler, chance, faults } = world;
  const able = world.alive(service);
  if (able.length === 0) return undefined;
  const process = chance.oneOf(able);
  const timer = new AbortController();
  let outcome: { value: T } | { error: unknown } | undefined;
  world.spawn(process, name, async () => {
    try {
      outcome = { value: await work(process) };
    } catch (error) {
      outcome = { error };
      throw error;
    } finally {
      timer.abort('answered');
    }
  });
  await scheduler.sleep(world.outside, CLIENT_TIMEOUT_MS, timer.signal);
  await scheduler.turn(world.outside);
  return faults.strikes('answer lost') ? undefined : outcome;
}
