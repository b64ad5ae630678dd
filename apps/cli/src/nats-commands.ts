import { busConfiguration, busUsers, permissionsOf } from '@quittance/shared/bus-permissions';
import { startProvisioner } from '@quittance/shared/bus-setup';
import { createLogger } from '@quittance/shared/logger';
import { busPasswordVariable, provisionerNats } from './nats-settings.ts';
import type { Outcome, SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/** Creates what NATS lacks. With `watch` it goes on until the process is told to end, and creates what NATS loses. */
export async function provisionNats(
  around: Surroundings,
  { watch, replicas }: { watch: boolean; replicas: number },
): Promise<SaidOutcome> {
  const stopping = around.stopping?.() ?? new AbortController().signal;
  // With --watch it logs as a service does, otherwise only failures.
  const to = watch ? around.out : around.err;
  const logger = createLogger('nats-provision', watch ? 'info' : 'warn', { write: (line) => to(line) });
  const provisioner = startProvisioner({ url: provisionerNats(around), logger, replicas });
  const stopped = new Promise<void>((resolve) => {
    if (stopping.aborted) resolve();
    else stopping.addEventListener('abort', () => resolve(), { once: true });
  });
  if (watch) {
    // A nats-server that is too old ends the command at once.
    await Promise.race([stopped, provisioner.made.then(() => stopped)]);
    await provisioner.stop();
    return { text: say``, json: { stopped: true } };
  }
  // Interrupted before NATS answered: `made` rejects below.
  void stopped.then(() => provisioner.stop());
  try {
    const made = await provisioner.made;
    return {
      json: { made },
      text: made.length === 0 ? say`NATS lacks nothing.\n` : say`Created: ${made.join(', ')}.\n`,
    };
  } finally {
    await provisioner.stop();
  }
}

const header = `# The users of NATS and what each of them may do. Written by
#   npx quittance nats permissions > deploy/nats/permissions.conf
# from the tables of events, commands and buckets; do not change it by hand. The passwords are the server's environment
# variables, in quotes: without them nats-server takes one that begins with a digit for a number.

`;

export function natsPermissions(): Outcome {
  return {
    json: Object.fromEntries(busUsers.map((user) => [user, permissionsOf(user)])),
    text: header + busConfiguration((user) => `$${busPasswordVariable(user)}`),
  };
}
