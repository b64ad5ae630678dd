import { basename } from 'node:path';
import { assetSymbols, assets, type Chain } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import { codeOf } from '@quittance/shared/logger';
import { knownMigrations } from '@quittance/shared/migrate-all';
import { isOlder, POSTGRES_WANTED } from '@quittance/shared/readiness';
import { clockFinding } from './clock-check.ts';
import { bad, type Finding, ok, why } from './finding.ts';

const PERMISSION_DENIED = '42501';
/** Of the connections that a role or the server may have. */
const CROWDED = 0.8;

/** Version, clock, whether it can be written to, and how many connections there are. */
export async function checkServer(db: Db, clock: Clock): Promise<Finding[]> {
  const before = clock.now();
  const server = await db.one<{ version: string; time: Date; standby: boolean; readonly: boolean }>(
    `select current_setting('server_version') as version, clock_timestamp() as time,
       pg_is_in_recovery() as standby, current_setting('default_transaction_read_only')::boolean as readonly`,
  );
  const after = clock.now();
  const wanted = POSTGRES_WANTED.join('.');
  return [
    isOlder(server.version, POSTGRES_WANTED)
      ? bad(
          'problem',
          'version',
          'Postgres',
          `${server.version} is too old`,
          `Upgrade it to ${wanted} or newer.`,
        )
      : ok('version', 'Postgres', server.version),
    clockFinding({ subject: 'database', time: server.time, before, after }),
    server.standby || server.readonly
      ? bad(
          'problem',
          'database',
          'writes',
          server.standby ? 'this is a standby' : 'it is read-only',
          'Let the URLs of all services lead to the primary.',
        )
      : ok('database', 'writes', 'it can be written to'),
    ...(await checkConnections(db)),
  ];
}

type Connections = { role: string; used: string; allowed: string };

async function checkConnections(db: Db): Promise<Finding[]> {
  const roles = await db.rows<Connections>(
    `select r.rolname as role, count(a.pid)::text as used, r.rolconnlimit::text as allowed
     from pg_roles r left join pg_stat_activity a on a.usename = r.rolname
     where r.rolname like 'quittance\\_%' and r.rolconnlimit >= 0 group by r.rolname, r.rolconnlimit
     union all
     select 'all', count(*)::text, current_setting('max_connections') from pg_stat_activity
       where backend_type = 'client backend'
     order by 1`,
  );
  return connectionFindings(roles);
}

/**
 * More replicas than connections: a service that gets none answers 503.
 * @param roles each role that has a limit, and `all` for the server's own
 */
export function connectionFindings(roles: readonly Connections[]): Finding[] {
  const crowded = roles.filter(({ used, allowed }) => share(used, allowed) > CROWDED);
  if (crowded.length === 0) {
    const { used = '?', allowed = '?' } = roles.find(({ role }) => role === 'all') ?? {};
    return [ok('database', 'connections', `${used} of ${allowed} are used`)];
  }
  return crowded.map(({ role, used, allowed }) =>
    bad(
      'warning',
      'database',
      'connections',
      `${used} of the ${allowed} of ${role === 'all' ? 'the server' : role} are used`,
      role === 'all'
        ? 'Raise max_connections of Postgres, or run fewer replicas.'
        : 'Run fewer replicas, or `quittance migrate` with a larger DATABASE_CONNECTIONS_MAX.',
    ),
  );
}

// eslint-disable-next-line no-restricted-syntax -- numbers of connections
const share = (used: string, allowed: string): number => Number(used) / Number(allowed);

/** Whether each service's schema is what this release needs. */
export async function checkMigrations(db: Db): Promise<Finding[]> {
  return await Promise.all(
    services.map(async (service) => {
      try {
        const applied = await db.rows<{ name: string }>(`select name from ${service}.migrations order by id`);
        return migrationsFinding(
          service,
          applied.map(({ name }) => name),
          (await knownMigrations(service)).map((file) => basename(file, '.sql')),
        );
      } catch (error) {
        if (codeOf(error) === PERMISSION_DENIED)
          return bad(
            'unknown',
            'migrations',
            service,
            'this role may not read them',
            'Set DATABASE_URL_ADMIN.',
          );
        return bad('problem', 'migrations', service, why(error), 'Run `quittance migrate`.');
      }
    }),
  );
}

function migrationsFinding(service: Service, applied: readonly string[], known: readonly string[]): Finding {
  const missing = known.filter((name) => !applied.includes(name));
  const strange = applied.filter((name) => !known.includes(name));
  if (strange.length > 0) {
    return bad(
      'problem',
      'migrations',
      service,
      `a newer release has applied ${strange.join(', ')}`,
      'Run that release, or a newer one.',
    );
  }
  return missing.length === 0
    ? ok('migrations', service, `all ${known.length} are applied`)
    : bad('problem', 'migrations', service, `${missing.join(', ')} not applied`, 'Run `quittance migrate`.');
}

/** Assets that merchants may use on a chain that is not configured here. */
export async function checkAssets(db: Db, chains: readonly Chain[]): Promise<Finding[]> {
  const rows = await db.rows<{ symbol: string }>(
    'select symbol from ledger.assets where active order by symbol',
  );
  const active = assetSymbols.filter((symbol) => rows.some((row) => row.symbol === symbol));
  const without = active
    .map((symbol) => ({ symbol, chain: assets[symbol].chain }))
    .filter(({ chain }) => !chains.includes(chain));
  return without.length === 0
    ? [ok('settings', 'assets', `each of the ${active.length} active assets has its chain`)]
    : without.map(({ symbol, chain }) =>
        bad(
          'warning',
          'settings',
          'assets',
          `${symbol} is active, and ${chain} is not configured here`,
          `Set ${chain.toUpperCase()}_RPC_URL, or take ${symbol} out of ASSETS_ACTIVE.`,
        ),
      );
}
