import { execFileSync } from 'node:child_process';
import path from 'node:path';
import pg from 'pg';
import { type PostgresHandle, type PostgresSettings, startPostgres } from './postgres.ts';
import { findPlace, privateFile } from './postgres-place.ts';
import type { EngineOptions } from './process.ts';

const PROMOTED_WITHIN_S = 20;

export type StandbyOptions = EngineOptions & {
  /** The folder of its copy of the data: empty, or missing. */
  dataDir: string;
  /** The URL by which it reaches its primary, as a superuser. */
  upstream: string;
  /** What the primary names it in `synchronous_standby_names`. */
  name: string;
  /** As the primary's: a standby that allows fewer connections than its primary does not start. */
  settings?: PostgresSettings | undefined;
};

export type StandbyHandle = PostgresHandle & {
  /** Makes it a primary. Its former one has to be gone: two that both write are two truths. */
  promote(): Promise<void>;
};

/**
 * A standby that follows by streaming replication. The embedded Postgres has no pg_basebackup: the primary is stopped for
 * a moment, its folder is copied, and it is started again.
 */
export async function startStandby(
  primary: PostgresHandle,
  { upstream, name, settings, ...options }: StandbyOptions,
): Promise<StandbyHandle> {
  await primary.stop();
  const place = findPlace(path.resolve(options.dataDir));
  execFileSync('cp', ['-a', primary.dataDir, place.dataDir]);
  privateFile(path.join(place.dataDir, 'standby.signal'), '', place.user);
  const { hostname, port, username, password } = new URL(upstream);
  const connection = {
    host: hostname,
    port,
    user: username,
    password,
    application_name: name,
    // The embedded Postgres has neither: who asks for them first is read wrongly by what stands between.
    sslmode: 'disable',
    gssencmode: 'disable',
  };
  const [standby] = await Promise.all([
    startPostgres({
      ...options,
      port: 0,
      settings: {
        ...settings,
        primary_conninfo: Object.entries(connection)
          .map(([key, value]) => `${key}=${value}`)
          .join(' '),
        // Of a primary that was away its standby asks again after 5 s otherwise.
        wal_retrieve_retry_interval: '100ms',
      },
    }),
    primary.restart(),
  ]);
  const promote = async () => {
    const client = new pg.Client({ connectionString: standby.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ done: boolean }>(`select pg_promote(true, $1) as done`, [
        PROMOTED_WITHIN_S,
      ]);
      if (rows[0]?.done !== true) throw new Error(`${name} was not promoted in ${PROMOTED_WITHIN_S} s`);
    } finally {
      await client.end();
    }
  };
  return Object.assign(standby, { promote });
}
