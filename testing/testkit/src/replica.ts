import { dirname, join } from 'node:path';
import { freePort } from '@quittance/engines/free-port';
import type { Engine } from '@quittance/engines/process';
import type { Service } from '@quittance/shared/events';
import { startServiceProcess } from '@quittance/stack/service-process';
import type { Quittance } from './quittance.ts';

export type Replica = { engine: Engine; port: number };

/**
 * One more process of a service beside the stack's own, with the same settings but for those given. It logs where the
 * stack's own does, or to another folder beside that one.
 */
export async function startReplica(
  { stack }: Pick<Quittance, 'stack'>,
  service: Service,
  settings: Readonly<Record<string, string>> = {},
  logs = 'logs',
): Promise<Replica> {
  const port = await freePort();
  const env = { ...stack.settingsOf(service), ...settings, PORT: String(port) };
  const logDir = join(dirname(stack.pricesFile), logs);
  return { engine: await startServiceProcess({ service, port, env, logDir }), port };
}
