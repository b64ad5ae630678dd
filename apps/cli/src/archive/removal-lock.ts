import type pg from 'pg';

/*
 * Months are removed by emptying tables, which a transaction that began before sees as well: a backup would have lost
 * their events. So a backup waits for a removal, and a removal is refused while a backup reads. Both until the
 * connection ends.
 */
const LOCK = `hashtext('quittance archive')`;

/** Whether this connection alone may remove months: no other one does, and none makes a backup. */
export async function mayRemove(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>(`select pg_try_advisory_lock(${LOCK}) as alone`);
  return rows[0]?.alone === true;
}

/** Waits until no month is being removed, and keeps it so. */
export async function keepFromRemoval(client: pg.Client): Promise<void> {
  // A month may take longer to write than anything else is waited for.
  const { rows } = await client.query<{ lock_timeout: string }>('show lock_timeout');
  await client.query('set lock_timeout = 0');
  await client.query(`select pg_advisory_lock_shared(${LOCK})`);
  await client.query(`select set_config('lock_timeout', $1, false)`, [rows[0]?.lock_timeout]);
}
