import { busConfiguration, busUsers, permissionsOf } from '@quittance/shared/bus-permissions';
import { keepBus } from '@quittance/shared/bus-setup';
import { createLogger } from '@quittance/shared/logger';
import type { Outcome, SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { busPasswordVariable, keeperBus } from './settings.ts';
import type { Surroundings } from './surroundings.ts';

/** Makes what the bus lacks and, unless that is all that is wanted, looks after it until it is told to end. */
export async function keepTheBus(around: Surroundings, { once }: { once: boolean }): Promise<SaidOutcome> {
  const stopping = around.stopping?.() ?? new AbortController().signal;
  // It speaks in log lines, as a service does: with --once only of trouble.
  const to = once ? around.err : around.out;
  const logger = createLogger('keep-bus', once ? 'warn' : 'info', { write: (line) => to(line) });
  const keeper = keepBus({ url: keeperBus(around), logger });
  const stopped = new Promise<void>((resolve) => {
    if (stopping.aborted) resolve();
    else stopping.addEventListener('abort', () => resolve(), { once: true });
  });
  if (!once) {
    // A bus that is too old is not waited for.
    await Promise.race([stopped, keeper.made.then(() => stopped)]);
    await keeper.stop();
    return { text: say``, json: { stopped: true } };
  }
  // Interrupted before the bus was there: the promise below says so.
  void stopped.then(() => keeper.stop());
  try {
    const made = await keeper.made;
    return {
      json: { made },
      text: made.length === 0 ? say`The bus lacks nothing.\n` : say`Made: ${made.join(', ')}.\n`,
    };
  } finally {
    await keeper.stop();
  }
}

const header = `# The users of the bus and what each of them may do. Written by
#   npx quittance nats-permissions > deploy/nats/permissions.conf
# from the tables of events, commands and buckets; do not change it by hand. The passwords are the server's environment
# variables, in quotes: without them nats-server takes one that begins with a digit for a number.

`;

export function natsPermissions(): Outcome {
  return {
    json: Object.fromEntries(busUsers.map((user) => [user, permissionsOf(user)])),
    text: header + busConfiguration((user) => `$${busPasswordVariable(user)}`),
  };
}
