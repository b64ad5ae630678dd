/**
 * Why a service does not start although its settings can be read: waiting would not mend it, somebody has to. The message
 * is one line for the person who started it: what is wrong, and what to do.
 */
export class StartRefused extends Error {
  override name = 'StartRefused';
}

/** The oldest that the tests were run with. */
export const POSTGRES_WANTED = [15] as const;
/** Of migrations that are not known here, so many are named. */
const NAMED_MAX = 3;

/** An engine that lacks what this code relies on. */
export const tooOld = (engine: string, version: string, wanted: readonly number[]): StartRefused =>
  new StartRefused(`${engine} ${version} is too old, ${wanted.join('.')} or newer is needed`);

/** @param strange migrations of the database that this code does not have */
export function migratedByNewer(strange: readonly string[]): StartRefused {
  const named = strange.slice(0, NAMED_MAX).join(', ');
  const more = strange.length > NAMED_MAX ? ` and ${strange.length - NAMED_MAX} more` : '';
  return new StartRefused(
    `the database was migrated by a newer release (${named}${more} not known here): run that release, or a newer one`,
  );
}

/** A port as people know it, or an address that cannot be listened on; whatever else comes back as it was. */
export function whyNotListening(error: unknown, host: string, port: number): unknown {
  const code = Error.isError(error) && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new StartRefused(
        `port ${port} of ${host} is in use: end the process that listens there, or set PORT to another one`,
      );
    case 'EACCES':
      return new StartRefused(`port ${port} may not be listened on by this user: set PORT to 1024 or above`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartRefused(`HOST=${host} is no address of this machine (0.0.0.0 is all it has)`);
    default:
      return error;
  }
}

/** The first parts of a version are compared: `2.9.10` is older than `2.10.20`. */
export function isOlder(version: string, wanted: readonly number[]): boolean {
  // eslint-disable-next-line no-restricted-syntax -- the parts of a version
  const parts = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  for (const [i, part] of wanted.entries()) {
    if ((parts[i] ?? 0) !== part) return (parts[i] ?? 0) < part;
  }
  return false;
}
