import { readFile } from 'node:fs/promises';
import { asAdmin } from './admin-connection.ts';
import { grantConnect, limitRole } from './database-roles.ts';
import { events } from './events.ts';

const ROLE = 'quittance_operator';
/** Each command takes one. */
const CONNECTIONS_MAX = 10;
const RIGHTS = new URL('../operator.sql', import.meta.url);

/** Each kind of event with its sender, once for each that must have it. */
const kinds = Object.entries(events).flatMap(([kind, { from, to }]) =>
  to.map((receiver) => ({ kind, sender: from, receiver })),
);

/**
 * The role of this command: it reads what the command shows and calls what it changes things with, on whatever the
 * services' migrations have made. Nobody logs in with it before it is given a password.
 */
export async function prepareOperator(adminUrl: string, password: string | undefined): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtext('quittance roles'))`);
    const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [ROLE]);
    if (rowCount === 0) await client.query(`create role ${ROLE} nologin`);
    await limitRole(client, ROLE, CONNECTIONS_MAX);
    if (password !== undefined)
      await client.query(`alter role ${ROLE} login password ${client.escapeLiteral(password)}`);
    await grantConnect(client, ROLE);
    await client.query(await readFile(RIGHTS, 'utf8'));
    await client.query('delete from operator.kinds');
    await client.query(
      `insert into operator.kinds (kind, sender, receiver)
       select kind, sender, receiver from jsonb_to_recordset($1) as k(kind text, sender text, receiver text)`,
      [JSON.stringify(kinds)],
    );
    await client.query('commit');
  });
}
