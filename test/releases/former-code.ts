import { openDb, type Queryable } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';
import { TEST_PASSWORD } from '@quittance/testkit/databases';
import { planStatements } from '../privileges/plan-statements.ts';
import type { StoredRelease } from './stored-release.ts';

type Column = { column: string; type: string };

/** Of each column its type, `!` when whoever inserts a row must give it, and `?` when it may be null. */
export async function columnsOf(db: Queryable): Promise<Map<string, string>> {
  const rows = await db.rows<Column>(
    `select format('%I.%I.%I', n.nspname, c.relname, a.attname) as column,
       format_type(a.atttypid, a.atttypmod) || case when not a.attnotnull then '?'
         when not a.atthasdef and a.attidentity = '' then '!' else '' end as type
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname = any($1) and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
    [services],
  );
  return new Map(rows.map(({ column, type }) => [column, type]));
}

/**
 * Why services of a release cannot go on while its schema has become this one, next to services of today: statements of theirs that
 * name what there is no more or what they may not, and columns that their inserts leave out and that must be given.
 *
 * @param before the columns as the release had them
 * @param whose the services whose statements are tried
 */
export async function whyFormerCodeFails(
  { adminUrl, db }: { adminUrl: string; db: Queryable },
  before: ReadonlyMap<string, string>,
  statements: NonNullable<StoredRelease['statements']>,
  whose: readonly Service[] = services,
): Promise<string[]> {
  const why: string[] = [];
  for (const service of whose) {
    const own = openDb({
      url: serviceUrl(adminUrl, service, TEST_PASSWORD),
      schema: service,
      pool: 1,
      logger: createLogger('test', 'silent'),
    });
    const { refused } = await planStatements(own, statements[service]);
    await own.close();
    why.push(...refused.map((one) => `${service} ${one}`));
  }
  const tableOf = (column: string) => column.slice(0, column.lastIndexOf('.'));
  const tables = new Set([...before.keys()].map(tableOf));
  for (const [column, type] of await columnsOf(db)) {
    const former = before.get(column);
    if (former === undefined && tables.has(tableOf(column)) && type.endsWith('!'))
      why.push(`${column} must be given`);
    if (former?.endsWith('?') === true && !type.endsWith('?')) why.push(`${column} may no longer be null`);
  }
  return why;
}
