import type { Answer } from '@quittance/shared/http-answers';
import type { Environment } from './environment.ts';
import type { RouteCall } from './http-route.ts';
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
  const { slept, wake } = scheduler.nap(environment.outside, CLIENT_TIMEOUT_MS);
  let outcome: { value: T } | { error: unknown } | undefined;
  environment.spawn(process, name, async () => {
    try {
      outcome = { value: await work(process) };
    } catch (error) {
      outcome = { error };
      throw error;
    } finally {
      wake();
    }
  });
  await slept;
  await scheduler.turn(environment.outside);
  return faults.strikes('answer lost') ? undefined : outcome;
}

/** What a route of a service answers; undefined when nothing is heard, or a 500. */
export async function callRoute(
  environment: Environment,
  service: SimService,
  path: string,
  call: RouteCall,
  onAnswer?: (answer: Answer) => void,
): Promise<Answer | undefined> {
  const heard = await callOverHttp(environment, service, path, async ({ replica }) => {
    const route = replica.routes?.get(path);
    if (route === undefined) throw new Error(`${service} answers ${path}`);
    const answer = await route({ ...call, at: new Date(environment.scheduler.now) });
    onAnswer?.(answer);
    return answer;
  });
  return heard === undefined || 'error' in heard ? undefined : heard.value;
}

/** A body as JSON, as bytes and parsed. */
export const jsonCall = (body: object): Pick<RouteCall, 'rawBody' | 'body'> => ({
  rawBody: Buffer.from(JSON.stringify(body)),
  body,
});
