import { type BusUser, PROVISIONER } from '@quittance/shared/bus-connection';
import type { Where } from './operator-file.ts';
import { CommandError } from './surroundings.ts';

export const busPasswordVariable = (user: BusUser): string => `${user.toUpperCase()}_NATS_PASSWORD`;

/** NATS with the user of the provisioner, which may create what the services need. */
export function provisionerNats({ env }: Where): string {
  const url = env['NATS_URL'];
  if (url && URL.canParse(url) && /^(nats|tls):$/.test(new URL(url).protocol)) return url;
  // Without its value: it holds a password.
  throw new CommandError(
    `Which bus? Set NATS_URL to nats://${PROVISIONER}:<password>@<host>:4222.` +
      (url ? ' It is set, and not to such a URL.' : ' (The sandbox looks after its bus by itself.)'),
  );
}
