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
