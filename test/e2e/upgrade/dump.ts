import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Db } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';

const root = new URL('../../../', import.meta.url);
const schemas = [...services, 'operator'];

/**
 * The database as one plain SQL text: the schema by the SQL that made it, which is the text of this release's own
 * migrations and not of any later one's, and each row. The package of Postgres that is used here has no pg_dump.
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
  for (const service of services) {
    const role = `quittance_${service}`;
    parts.push(
      `create schema ${service};`,
      `grant usage on schema ${service} to ${role};`,
      `alter default privileges in schema ${service} grant select, insert, update, delete on tables to ${role};`,
      `alter default privileges in schema ${service} grant usage on sequences to ${role};`,
    );
  }
  for (const service of services) {
    parts.push(
      `set search_path = ${service};`,
      'create table migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz);',
      'create table migrations_lock (index serial primary key, is_locked integer);',
      ...(await sqlIn(new URL('packages/shared/migrations/', root))),
      ...(await sqlIn(new URL(`services/${service}/migrations/`, root))),
      `revoke all on migrations, migrations_lock from quittance_${service};`,
      `grant select on migrations to quittance_${service};`,
    );
  }
  parts.push('reset search_path;', await readFile(new URL('packages/shared/operator.sql', root), 'utf8'));
  // Rows come in no order that foreign keys would like, and no trigger shall change them.
  parts.push(`set session_replication_role = 'replica';`);
  const tables = await db.rows<{ name: string; columns: string; identity: boolean }>(
    `select c.oid::regclass::text as name,
       string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = any($1::text[]::regnamespace[]) and c.relkind = 'r' and a.attnum > 0
       and not a.attisdropped and a.attgenerated = ''
     group by c.oid order by c.oid::regclass::text`,
    [schemas],
  );
  parts.push(`truncate ${tables.map(({ name }) => name).join(', ')};`);
  for (const { name, columns } of tables) {
    const rows = await db.rows<{ row: string }>(`select row_to_json(t)::text as row from ${name} t`);
    if (rows.length === 0) continue;
    parts.push(
      `insert into ${name} (${columns}) overriding system value\nselect ${columns} from json_populate_recordset(null::${name}, $rows$[\n${rows
        .map(({ row }) => row)
        .join(',\n')}\n]$rows$);`,
    );
  }
  const sequences = await db.rows<{ name: string; last: string | null }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
     from pg_sequences where schemaname = any($1::text[])`,
    [schemas],
  );
  for (const { name, last } of sequences) if (last !== null) parts.push(`select setval('${name}', ${last});`);
  parts.push(`reset session_replication_role;`);
  return `${parts.join('\n')}\n`;
}

async function sqlIn(folder: URL): Promise<string[]> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
}
