import type { Service } from '@quittance/shared/events';
import { listeningServices } from '@quittance/stack/ports';
import { eventually } from './eventually.ts';
import type { Quittance } from './quittance.ts';

/** Whose connection to what goes through something that can fail. */
export type Between = { service: Service; setting: string; through(url: string): string };

/** Puts something between services and what they stand on, and starts them again, so that they connect through it. */
export async function putBetween(
  { stack }: Pick<Quittance, 'stack'>,
  all: readonly Between[],
): Promise<void> {
  for (const { service, setting, through } of all) {
    const settings = stack.settingsOf(service);
    const url = settings[setting];
    if (url === undefined) throw new Error(`${service} is not told ${setting}`);
    settings[setting] = through(url);
  }
  await Promise.all(
    [...new Set(all.map(({ service }) => service))].map((service) => serviceOf(stack, service).restart()),
  );
}

/** A service of the stack; throws where the stack runs without it. */
export function serviceOf({ services }: Quittance['stack'], service: Service) {
  const found = services[service];
  if (found === undefined) throw new Error(`this stack has no ${service}`);
  return found;
}

/** Waits until every service that listens says that it is ready. */
export const allReady = ({ stack }: Pick<Quittance, 'stack'>, withinMs: number): Promise<void> =>
  eventually(async () => {
    for (const service of listeningServices.filter((one) => stack.services[one] !== undefined)) {
      const answer = await fetch(`http://127.0.0.1:${stack.ports[service]}/readyz`);
      if (!answer.ok) throw new Error(`${service} is not ready: ${await answer.text()}`);
    }
  }, withinMs);
