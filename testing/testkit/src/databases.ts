import pg from 'pg';

export const TEMPLATE = 'quittance_template';
/** The password of every service's role in tests. */
export const TEST_PASSWORD = 'test';
/** Suites that run at once share the roles. */
export const TEST_CONNECTIONS_MAX = 300;

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export async function onServer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** SQL: whether a role may vacuum, lock or reindex a table. Postgres has this right from 17 on, and refuses its name before. */
export const mayMaintain = (role: string, table: string): string =>
  `case when current_setting('server_version_num')::int >= 170000 then has_table_privilege(${role}, ${table}, 'maintain') else false end`;
