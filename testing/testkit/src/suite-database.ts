import { afterAll } from '@jest/globals';
import { type Db, type DbOptions, openDb } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase } from './engines.ts';

export type SuiteDatabase = Omit<TestDatabase, 'drop'> & {
  /** A service's own role in its own schema; closed after the last test. */
  openAs(service: Service, options?: Partial<DbOptions>): Db;
  /** A superuser, whose search path is this schema. */
  openAsAdmin(schema: string, options?: Partial<DbOptions>): Db;
  /** Runs after the last test, before the database goes: what was begun last ends first. */
  finally(end: () => unknown): void;
};

/** For one suite: a database of its own, which goes after the last test. */
export async function suiteDatabase(): Promise<SuiteDatabase> {
  const database = await testDatabase();
  const ends: (() => unknown)[] = [() => database.drop()];
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const open = (url: string, schema: string, options: Partial<DbOptions> = {}) => {
    const db = openDb({ url, schema, pool: 4, logger: createLogger('test', 'silent'), ...options });
    ends.push(() => db.close());
    return db;
  };
  return {
    ...database,
    openAs: (service, options) => open(database.urlOf(service), service, options),
    openAsAdmin: (schema, options) => open(database.adminUrl, schema, options),
    finally: (end) => void ends.push(end),
  };
}

/** Runs statements that are separated by semicolons, on one connection when the pool has one. */
export async function runAll(db: Pick<Db, 'rows'>, sql: string): Promise<void> {
  for (const one of sql.split(';')) if (one.trim() !== '') await db.rows(one);
}
