import type { Db } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';

/** Of each table its rows, as one number. */
export async function contents(db: Db): Promise<Record<string, string>> {
  const tables = await db.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any($1) and tablename not like 'migrations%'`,
    [services],
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const { digest } = await db.one<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest from ${name} t`,
    );
    found[name] = digest;
  }
  return found;
}
