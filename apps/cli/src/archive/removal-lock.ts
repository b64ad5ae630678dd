import type pg from 'pg';

/*
 * Months are removed by emptying tables, which a transaction sees that began before: a backup would lack their events. So a
 * removal waits for the backups that read, and a backup for a removal, however long: timers may start both at one moment.
 */
const ARCHIVING = `hashtext('quittance archive')`;
const REMOVAL = `hashtext('quittance archive removal')`;

/** Whether no other connection archives; until this one ends none does. */
export async function archivesAlone(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>(
    `select pg_try_advisory_lock(${ARCHIVING}) as alone`,
  );
  return rows[0]?.alone === true;
}

/** Waits for the backups that read. Until the transaction of the caller ends, none begins. */
export const keepBackupsOut = (client: pg.Client): Promise<void> =>
  patiently(client, `select pg_advisory_xact_lock(${REMOVAL})`);

/** Waits until no month is being removed. Until the connection ends, none is. */
export const keepRemovalsOut = (client: pg.Client): Promise<void> =>
  patiently(client, `select pg_advisory_lock_shared(${REMOVAL})`);

async function patiently(client: pg.Client, lock: string): Promise<void> {
  await client.query('set lock_timeout = 0');
  await client.query(lock);
  // To what the connection was opened with.
  await client.query('reset lock_timeout');
}
