import type { Db } from '@quittance/shared/db';

/** `isShared`: of the code of all services; not every one has each table that it knows. */
export type Named = { name: string; text: string; isShared?: true };

const UNDEFINED_TABLE = '42P01';

/**
 * Has Postgres plan each statement as the role of `db`, which needs the same tables, columns and rights as to run it.
 * @returns how many were planned, and of the others why not
 */
export async function planStatements(
  db: Db,
  statements: readonly Named[],
): Promise<{ asked: number; refused: string[] }> {
  const { version } = await db.one<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  // GENERIC_PLAN is of Postgres 16. Before, a statement is prepared, and its plan for all values is asked for.
  const plan = version >= 160_000 ? generically : prepared;
  const refused: string[] = [];
  let asked = 0;
  for (const { name, text, isShared } of statements) {
    // These have no plan; the cursor that is fetched from has one where it is declared.
    if (/^\s*(?:truncate|fetch)\b/i.test(text)) continue;
    try {
      await plan(db, text);
      asked += 1;
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === UNDEFINED_TABLE && isShared === true) continue;
      refused.push(`${name}: ${message}`);
    }
  }
  return { asked, refused };
}

const generically = async (db: Db, text: string): Promise<void> =>
  void (await db.rows(`explain (generic_plan) ${text}`));

let count = 0;
async function prepared(db: Db, text: string): Promise<void> {
  const name = `planned_${++count}`;
  await db.transaction(async (trx) => {
    await trx.rows('set local plan_cache_mode = force_generic_plan');
    await trx.rows(`prepare ${name} as ${text}`);
    const { values } = await trx.one<{ values: number }>(
      `select cardinality(parameter_types) as values from pg_prepared_statements where name = '${name}'`,
    );
    const nulls = values === 0 ? '' : `(${Array.from({ length: values }, () => 'null').join(', ')})`;
    await trx.rows(`explain execute ${name}${nulls}`);
  });
}
