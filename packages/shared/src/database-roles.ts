import pg from 'pg';

/**
 * How many connections a service's role may have at once when nobody says otherwise: those of six replicas with the usual
 * pool. One service cannot take all that the others need.
 */
export const CONNECTIONS_MAX = 60;

export const roleOf = (service: string): string => `quittance_${service}`;

const NO_RIGHTS = 'nosuperuser nocreatedb nocreaterole noreplication nobypassrls';

/**
 * Creates the role where it does not exist, gives it its password, limits its connections, and lets it connect to this
 * database. Call it in a transaction: roles belong to the whole cluster, and two databases may be prepared at once.
 *
 * A right that no role of ours may have is revoked only from a role that has it: in a managed Postgres the administrator
 * is no superuser, and may not execute `nosuperuser` on an existing role.
 * @param options without a password nobody logs in with a new role, and an existing one keeps its password
 */
export async function prepareRole(
  client: pg.Client,
  name: string,
  { password, connectionsMax }: { password: string | undefined; connectionsMax: number },
): Promise<void> {
  const role = client.escapeIdentifier(name);
  await client.query(`select pg_advisory_xact_lock(hashtext('quittance roles'))`);
  const { rows } = await client.query<{ is_strong: boolean }>(
    `select rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls as is_strong
     from pg_roles where rolname = $1`,
    [name],
  );
  const [known] = rows;
  if (known === undefined) await client.query(`create role ${role} nologin`);
  const revoked = known?.is_strong === true ? NO_RIGHTS : '';
  const login = password === undefined ? '' : `login password ${client.escapeLiteral(password)}`;
  await client.query(`alter role ${role} ${revoked} ${login} connection limit ${connectionsMax}`);
  await grantConnect(client, name);
}

/** Lets a role connect to the database that this connection is to. */
export async function grantConnect(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const database = client.escapeIdentifier(rows[0]?.name ?? '');
  await client.query(`grant connect on database ${database} to ${client.escapeIdentifier(role)}`);
}

/**
 * Postgres lets everybody connect to every database and make temporary tables there. From here on only those do that were
 * let in by name: of this database, and of those that each server has from the start, unless it has others beside: then
 * somebody else uses it, and may need them. Comes last: services of the former release run meanwhile.
 */
export async function closeDatabases(client: pg.Client): Promise<void> {
  // As whoever else makes or changes roles here: two that change the rights on one database at once fail.
  await client.query(`do $$
    declare
      open name;
      is_ours boolean := not exists (
        select from pg_database where datname not in ('postgres', 'template0', 'template1', current_database()));
    begin
      perform pg_advisory_xact_lock(hashtext('quittance roles'));
      for open in
        select datname from pg_database
        where datname = current_database()
          or is_ours and datname in ('postgres', 'template1') and pg_has_role(datdba, 'member')
      loop
        execute format('revoke connect, temporary on database %I from public', open);
      end loop;
    end $$`);
}

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
