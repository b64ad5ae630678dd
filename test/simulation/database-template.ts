import type { PGlite } from '@electric-sql/pglite';
import { Remembered } from './remembered.ts';

/** What all seeds begin with: the tables after the migrations, and how they are made so again. */

/** All but the audit log: no scenario writes there, and its triggers let nobody empty it. */
async function tablesOf(pglite: PGlite, schemas: readonly string[]): Promise<string[]> {
  const { rows } = await pglite.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace::regnamespace::text = any($1) and relname <> 'audit_log' order by 1`,
    [schemas],
  );
  return rows.map(({ name }) => name);
}

export async function rememberedFor(pglite: PGlite, schemas: readonly string[]): Promise<Remembered> {
  const { rows: relations } = await pglite.query<{ schema: string; name: string; same: number }>(
    `select relnamespace::regnamespace::text as schema, relname as name, count(*) over (partition by relname) as same
     from pg_class where relkind in ('r', 'v', 'm') and relnamespace::regnamespace::text = any($1)`,
    [schemas],
  );
  const tables = new Map<string, string>();
  for (const { schema, name, same } of relations) {
    tables.set(`${schema}.${name}`, `${schema}.${name}`);
    if (same === 1) tables.set(name, `${schema}.${name}`);
  }
  const { rows: functions } = await pglite.query<{ schema: string; name: string }>(
    `select pronamespace::regnamespace::text as schema, proname as name from pg_proc
     where pronamespace::regnamespace::text = any($1)`,
    [schemas],
  );
  return new Remembered(
    tables,
    new Set(functions.flatMap(({ schema, name }) => [name, `${schema}.${name}`])),
  );
}

/** What sets all sequences to where they are now. */
export async function sequencesNow(pglite: PGlite): Promise<string> {
  const { rows } = await pglite.query<{ name: string; value: string; called: boolean }>(
    `select quote_ident(schemaname) || '.' || quote_ident(sequencename) as name,
       coalesce(last_value, start_value)::text as value, last_value is not null as called from pg_sequences`,
  );
  return rows.map(({ name, value, called }) => `setval('${name}', ${value}, ${called})`).join(', ');
}

/** Makes all tables unlogged, and keeps what the migrations wrote to them. */
export async function keepFirstRows(pglite: PGlite, schemas: readonly string[]): Promise<void> {
  const statement = await emptying(pglite, schemas);
  await withoutLog(pglite, schemas);
  await pglite.exec('create table world.emptying (statement text not null)');
  await pglite.query('insert into world.emptying values ($1)', [statement]);
}

/** The statement that makes the tables as the migrations left them. */
export async function toEmpty(pglite: PGlite): Promise<string> {
  const { rows } = await pglite.query<{ statement: string }>('select statement from world.emptying');
  return rows.map(({ statement }) => statement).join('; ');
}

/** What makes the tables as they are now, whatever was written meanwhile. Keeps beside what is in them: little. */
async function emptying(pglite: PGlite, schemas: readonly string[]): Promise<string> {
  const tables = await tablesOf(pglite, schemas);
  const refill: string[] = [];
  for (const [i, table] of tables.entries()) {
    const { rows } = await pglite.query(`select from ${table} limit 1`);
    if (rows.length === 0) continue;
    await pglite.exec(`create table world.kept_${i} as table ${table}`);
    refill.push(`insert into ${table} overriding system value table world.kept_${i}`);
  }
  return [`truncate ${tables.join(', ')}`, ...refill, `select ${await sequencesNow(pglite)}`].join('; ');
}

/** Tables that a crash would empty cost less to write to. Referenced ones go last. */
async function withoutLog(pglite: PGlite, schemas: readonly string[]): Promise<void> {
  let left = await tablesOf(pglite, schemas);
  for (let before = left.length + 1; left.length < before; ) {
    before = left.length;
    const failed: string[] = [];
    for (const name of left) {
      await pglite.exec(`alter table ${name} set unlogged`).catch(() => failed.push(name));
    }
    left = failed;
  }
  if (left.length > 0) throw new Error(`still logged: ${left.join(', ')}`);
}
