import pg from 'pg';

/**
 * Does the work on a connection of the database's owner, and closes it.
 * @param adminUrl Of a role that may make roles and schemas.
 */
export async function asAdmin<T>(adminUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: adminUrl });
  // A connection that breaks between two queries fails the next one; unheard, it would end the process without a word.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
