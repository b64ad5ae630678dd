import pg from 'pg';
import { isCertificateRefused } from './certificate-problem.ts';
import { codeOf, reason } from './logger.ts';

/** The name of the constraint that a statement broke, when that is why it failed. */
export function brokenConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined;
}

/** The answer to a write or a commit was lost: it may be stored. Unavailable would promise that nothing was done. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('it is not known whether the request was carried out', { cause });
  }
}

/** What fails before anything was sent. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)/;
/** An operator or a crash has ended the connection, perhaps between a commit and its answer. */
const ENDED = /^57P0[12]$/;

/** Whether a statement changes rows. */
export const isWriting = (sql: string): boolean =>
  /\b(?:insert\s+into|delete\s+from|update\s+[\w.]+\s+(?:as\s+)?(?:\w+\s+)?set)\b/i.test(sql);

/**
 * The answer to a single statement that writes, or to a commit. Throws UnknownOutcome when the connection was lost after it
 * was sent, and otherwise what it failed with.
 */
export async function knownWrite<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const isKnown =
      error instanceof pg.DatabaseError
        ? !ENDED.test(error.code ?? '')
        : NEVER_SENT.test(codeOf(error) ?? '') ||
          isCertificateRefused(error) ||
          /trying to connect|not queryable/i.test(reason(error));
    throw isDatabaseDown(error) && !isKnown ? new UnknownOutcome(error) : error;
  }
}

/**
 * True when the database could not be asked at all (gone, restarting, full, too slow), as against a
 * statement that was refused: the caller is told to come back later. Of an unknown outcome as well.
 */
export function isDatabaseDown(error: unknown): boolean {
  if (error instanceof UnknownOutcome) return true;
  if (error instanceof pg.DatabaseError) {
    // 08 connection, 53 resources, 57 operator intervention (shutdown, timeouts), 58 system, 25P03 idle transaction, 55P03 lock.
    return /^(08|53|57|58)|^25P03$|^55P03$/.test(error.code ?? '');
  }
  // Not instanceof: under jest the errors of Node's own sockets come from another realm.
  if (!Error.isError(error)) return false;
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)/.test(codeOf(error) ?? '') ||
    isCertificateRefused(error) ||
    /Connection terminated|timeout exceeded when trying to connect|not queryable|Query read timeout/i.test(
      error.message,
    )
  );
}

const hasState = (error: unknown, states: RegExp): boolean =>
  error instanceof pg.DatabaseError && states.test(error.code ?? '');

/** True when the same transaction may succeed as it stands: it met a deadlock or another's write, or no database. */
export const isPassing = (error: unknown): boolean =>
  hasState(error, /^(40001|40P01)$/) || isDatabaseDown(error);

/**
 * True when what passes was met by this transaction and perhaps by no other: another's write or lock, a limit of time or
 * memory. A smaller one may not meet it, and where several were put into one, one of them may be to blame.
 */
export const mayPassInParts = (error: unknown): boolean =>
  // 40 another's write, 55P03 lock, 57014 statement timeout, 25P03 idle transaction, 53200 memory, 53400 a set limit.
  hasState(error, /^(40001|40P01|55P03|57014|25P03|53200|53400)$/);

/** True when Postgres cannot hold a value as it was given: no such text or JSON (22), or beyond its limits (54). */
export const isUnstorable = (error: unknown): boolean => hasState(error, /^(22|54)/);
