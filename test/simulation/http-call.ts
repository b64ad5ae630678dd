import type { Environment } from './environment.ts';
import type { Process, SimService } from './process.ts';

const CLIENT_TIMEOUT_MS = 12_000;

/** What somebody outside asks a process over HTTP: its answer, its failure, or nothing in time. */
export async function callOverHttp<T>(
  environment: Environment,
  service: SimService,
  name: string,
  work: (process: Process) => Promise<T>,
): Promise<{ value: T } | { error: unknown } | undefined> {
  const { scheduler, chance, faults } = environment;
  const able = environment.alive(service);
  if (able.length === 0) return undefined;
  const process = chance.oneOf(able);
  const timer = new AbortController();
  let outcome: { value: T } | { error: unknown } | undefined;
  environment.spawn(process, name, async () => {
    try {
      outcome = { value: await work(process) };
    } catch (error) {
      outcome = { error };
      throw error;
    } finally {
      timer.abort('answered');
    }
  });
  await scheduler.sleep(environment.outside, CLIENT_TIMEOUT_MS, timer.signal);
  await scheduler.turn(environment.outside);
  return faults.strikes('answer lost') ? undefined : outcome;
}
