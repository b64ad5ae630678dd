import { type Db, openDb } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';

/** What a restore adds: the pause, and its own line of the audit log. */
const ADDED = ['auditor.halts', 'payouts.halted_assets', 'gateway.audit_log'];

async function asked<T>(url: string, ask: (db: Db) => Promise<T>): Promise<T> {
  const db = openDb({ url, schema: 'public', pool: 1, logger: createLogger('test', 'silent') });
  try {
    return await ask(db);
  } finally {
    await db.close();
  }
}

/** Whether a restore has begun to fill a table. */
export const isBeingFilled = (url: string): Promise<boolean> =>
  asked(url, async (db) => {
    const { found } = await db.one<{ found: boolean }>(
      `select exists (select from pg_stat_activity
         where datname = current_database() and query like 'copy %') as found`,
    );
    return found;
  });

/** Of each table its rows, as one number, but for what a restore adds. */
export const recordsOf = (url: string): Promise<Record<string, string>> =>
  asked(url, async (db) => {
    const tables = await db.rows<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any($1) and tablename not like 'migrations%'`,
      [services],
    );
    const found: Record<string, string> = {};
    for (const { name } of tables.filter((one) => !ADDED.includes(one.name))) {
      const { digest } = await db.one<{ digest: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest from ${name} t`,
      );
      found[name] = digest;
    }
    return found;
  });
