import pg from 'pg';

/**
 * The URL of the sandbox's own database on the server, made when it is missing.
 * @param template the database that a new one is a copy of; nobody may be connected to it
 */
export async function ensureDatabase(
  serverUrl: string,
  name: string,
  template = 'template1',
): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const known = await client.query('select 1 from pg_database where datname = $1', [name]);
    const [database, from] = [name, template].map((one) => client.escapeIdentifier(one));
    if (known.rowCount === 0) await client.query(`create database ${database} template ${from}`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
