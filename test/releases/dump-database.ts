import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Db } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';

const root = new URL('../../', import.meta.url);
const OPERATOR = 'operator';
const schemas = [...services, OPERATOR];

/**
 * The database of this checkout as one plain SQL text: the schema as the text of its migrations, which later ones do not change,
 * and each row. The package of Postgres that is used here has no pg_dump, and the output of another one depends on its version.
 */
export async function dumpDatabase(db: Db): Promise<string> {
  const parts: string[] = [
    `set client_min_messages = 'warning';`,
    ...schemas.map(
      (name) =>
        `do $$ begin if to_regrole('quittance_${name}') is null then create role quittance_${name} nologin; end if; end $$;`,
    ),
    'revoke all on schema public from public;',
  ];
  for (const service of services) parts.push(...(await schemaOf(service)));
  parts.push('reset search_path;', await readFile(new URL('packages/shared/operator.sql', root), 'utf8'));
  // Rows come in no order that foreign keys would like, and no trigger shall change them.
  parts.push(`set session_replication_role = 'replica';`);
  parts.push(...(await rowsOf(db)), ...(await sequencesOf(db)), 'reset session_replication_role;');
  return `${parts.join('\n')}\n`;
}

async function schemaOf(service: string): Promise<string[]> {
  const role = `quittance_${service}`;
  return [
    `create schema ${service};`,
    `grant usage on schema ${service} to ${role};`,
    `alter default privileges in schema ${service} grant select, insert, update, delete on tables to ${role};`,
    `alter default privileges in schema ${service} grant usage on sequences to ${role};`,
    `set search_path = ${service};`,
    'create table migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz);',
    'create table migrations_lock (index serial primary key, is_locked integer);',
    ...(await sqlIn(new URL('packages/shared/migrations/', root))),
    ...(await sqlIn(new URL(`services/${service}/migrations/`, root))),
    `revoke all on migrations, migrations_lock from ${role};`,
    `grant select on migrations to ${role};`,
  ];
}

async function sqlIn(folder: URL): Promise<string[]> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
}

/** Migrations write rows too: those that were there at the end replace them. */
async function rowsOf(db: Db): Promise<string[]> {
  const tables = await db.rows<{ name: string; columns: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name,
       string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname = any($1) and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by n.nspname, c.relname order by 1`,
    [schemas],
  );
  const parts = [`truncate ${tables.map(({ name }) => name).join(', ')};`];
  for (const { name, columns } of tables) {
    const rows = await db.rows<{ row: string }>(`select row_to_json(t)::text as row from ${name} t`);
    if (rows.length === 0) continue;
    const lines = rows.map(({ row }) => row).join(',\n');
    parts.push(
      `insert into ${name} (${columns}) overriding system value`,
      `select ${columns} from json_populate_recordset(null::${name}, $rows$[\n${lines}\n]$rows$);`,
    );
  }
  return parts;
}

async function sequencesOf(db: Db): Promise<string[]> {
  const used = await db.rows<{ name: string; last: string }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
     from pg_sequences where schemaname = any($1) and last_value is not null order by 1`,
    [schemas],
  );
  return used.map(({ name, last }) => `select setval('${name}', ${last});`);
}
