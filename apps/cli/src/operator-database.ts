import { hostname, userInfo } from 'node:os';
import { type Db, openDb, type Trx } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { operatorDatabase } from './database-settings.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** A statement that reads a sender's whole outbox may take a while. */
const STATEMENT_TIMEOUT = '60s';
const ANSWER_WITHIN_MS = 70_000;

/** Runs a command as the operator's role, on the tables of one schema or, by their full names, of all. */
export async function withOperator<T>(
  around: Surroundings,
  schema: string,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const db = openDb({
    url: operatorDatabase(around),
    schema,
    pool: 1,
    logger: createLogger('cli', 'silent'),
    answerWithinMs: ANSWER_WITHIN_MS,
    settings: { statement_timeout: STATEMENT_TIMEOUT, 'quittance.source': source() },
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Where commands run, for the audit log: the name of the computer or of the container. */
export const source = (): string => hostname().replaceAll(/[^\w.-]/g, '_');

/** One line that can be read where it is listed. */
const NAME = /^\P{C}{1,100}$/u;

/**
 * The operator's name for the audit log: QUITTANCE_OPERATOR where it is set, otherwise the user of this process, which in a
 * container is the same for everybody. The name is not verified: operators share one database role.
 */
export function actor({ env }: Pick<Surroundings, 'env'>): string {
  const named = env['QUITTANCE_OPERATOR']?.trim();
  if (named) {
    if (NAME.test(named)) return `cli:${named}`;
    throw new CommandError(
      'QUITTANCE_OPERATOR is the name of the operator, in one line of at most 100 characters.',
    );
  }
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // In a container the user may be a number that has no name.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}

export type AuditLogEntry = { actor: string; action: string; subject: string };

/** Records who did what, in the transaction that does it, so that nothing is done without a record. */
export async function writeAuditLog(trx: Trx, { actor: by, action, subject }: AuditLogEntry): Promise<void> {
  await trx.rows('select operator.write_audit_log($1, $2, $3)', [by, action, subject]);
}
