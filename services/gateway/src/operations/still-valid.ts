import type { Ports } from '../ports.ts';
import { sessionOf } from '../store/sessions.ts';
import type { Caller } from './caller.ts';
import { sessionLife } from './sessions.ts';

/** Whether a token or a session that was let in is still valid, for a request whose body came slowly. */
export async function isStillValid(
  ports: Pick<Ports, 'callerOf' | 'db' | 'settings'>,
  caller: Caller,
): Promise<boolean> {
  const found =
    caller.tokenId === undefined
      ? await sessionOf(ports.db, caller.hash, sessionLife(ports))
      : await ports.callerOf(caller.hash);
  return found !== undefined;
}
