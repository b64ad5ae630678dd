import type pg from 'pg';

/**
 * How many connections a service's role may have at once when nobody says otherwise: those of six replicas with the usual
 * pool. One service cannot take all that the others need.
 */
export const CONNECTIONS_MAX = 60;

export const roleOf = (service: string): string => `quittance_${service}`;

const NO_RIGHTS = 'nosuperuser nocreatedb nocreaterole noreplication nobypassrls';

/**
 * Revokes what no role of ours may have, and limits its connections. A right is revoked only from a role that has it: in a
 * managed Postgres the administrator is no superuser, and may not execute \`nosuperuser\` on an existing role.
 */
export async function limitRole(client: pg.Client, role: string, connectionsMax: number): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_roles where rolname = $1
       and (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls)`,
    [role],
  );
  const rights = rowCount === 0 ? '' : NO_RIGHTS;
  await client.query(
    `alter role ${client.escapeIdentifier(role)} ${rights} connection limit ${connectionsMax}`,
  );
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
