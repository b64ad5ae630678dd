import type pg from 'pg';

/**
 * How many connections a service's role may have at once when nobody says otherwise: those of six replicas with the usual
 * pool. One service cannot take all that the others need.
 */
export const CONNECTIONS_MAX = 60;

export const roleOf = (service: string): string => `quittance_${service}`;

/** What no role of ours may do, and how often it may connect; set anew by each migration. */
export const roleLimits = (connectionsMax: number): string =>
  `nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit ${connectionsMax}`;

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
  await client.query(`do $$
    declare
      open name;
      is_ours boolean := not exists (
        select from pg_database where datname not in ('postgres', 'template0', 'template1', current_database()));
    begin
      for open in
        select datname from pg_database
        where datname = current_database()
          or is_ours and datname in ('postgres', 'template1') and pg_has_role(datdba, 'member')
      loop
        execute format('revoke connect, temporary on database %I from public', open);
      end loop;
    end $$`);
}
