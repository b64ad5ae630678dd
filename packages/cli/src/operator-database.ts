import { userInfo } from 'node:os';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { operatorDatabase } from './settings.ts';
import type { Surroundings } from './surroundings.ts';

/** A question that reads a sender's whole outbox may take a while. */
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
    settings: { statement_timeout: STATEMENT_TIMEOUT },
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Who types this, for what is written down of it. */
export function actor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // In a container the user may be a number that has no name.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}
