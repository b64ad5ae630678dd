import type { Service } from '@quittance/shared/events';
import pg from 'pg';

/** A connection that may take as long as it needs: to read every row of every table, or to write them. */
export async function withConnection<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  program = 'quittance-backup',
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: program,
    connectionTimeoutMillis: 5_000,
    // As pg_dump sets them: what is written can be read by a server with other settings.
    options: [
      'search_path=pg_catalog',
      'timezone=UTC',
      'datestyle=ISO',
      'intervalstyle=postgres',
      'extra_float_digits=1',
      'statement_timeout=0',
      'idle_in_transaction_session_timeout=0',
      'lock_timeout=30s',
    ]
      .map((setting) => `-c ${setting}`)
      .join(' '),
  });
  // What breaks it is told to the statement that runs.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

export type RecordTable = { service: Service; name: string; columns: string };

/** `columns` as COPY takes them: what Postgres computes by itself is left out. */
export async function recordTables(client: pg.Client, services: readonly Service[]): Promise<RecordTable[]> {
  const { rows } = await client.query<RecordTable>(
    `select n.nspname as service, format('%I.%I', n.nspname, c.relname) as name,
       string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where n.nspname = any($1) and c.relkind = 'r' and c.relname not in ('migrations', 'migrations_lock')
     group by n.nspname, c.relname order by array_position($1, n.nspname::text), c.relname`,
    [services],
  );
  return rows;
}

/** Each sequence that has been used, with the last number that it gave. */
export async function usedSequences(
  client: pg.Client,
  services: readonly Service[],
): Promise<{ name: string; last: string }[]> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences
     where schemaname = any($1) and last_value is not null and sequencename not like 'migrations%' order by 1`,
    [services],
  );
  return rows;
}

export async function appliedMigrations(client: pg.Client, service: Service): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from ${service}.migrations order by name`,
  );
  return rows.map(({ name }) => name);
}
