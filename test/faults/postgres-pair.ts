import { rmSync } from 'node:fs';
import { type PostgresHandle, type PostgresOptions, startPostgres } from '@quittance/engines/postgres';
import { type StandbyHandle, startStandby } from '@quittance/engines/postgres-standby';
import { eventually } from '@quittance/testkit/eventually';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import pg from 'pg';

const STANDBY = 'standby';

/** A primary and a synchronous standby behind one address, as the Service of an operator of Postgres is one. */
export type PostgresPair = {
  /** What starts it, in place of one server. */
  start(options: PostgresOptions): Promise<PostgresHandle>;
  primary: PostgresHandle;
  standby: StandbyHandle;
  /** The address that everybody has. */
  address: FaultProxy;
  /** The way from the primary to its standby. */
  replication: FaultProxy;
  /** Whether a commit is answered only when the standby has it. */
  isSynchronous(): Promise<boolean>;
};

export function postgresPair(): PostgresPair {
  const pair: PostgresPair = {
    async start(options) {
      const primary = await startPostgres({
        ...options,
        settings: { ...options.settings, synchronous_standby_names: STANDBY },
      });
      pair.primary = primary;
      pair.address = await startFaultProxy(primary.url);
      pair.replication = await startFaultProxy(primary.url);
      const { standby } = await withStandby(options);
      return {
        ...primary,
        get pid() {
          return primary.pid;
        },
        url: pair.address.url,
        async stop() {
          await Promise.all([primary.stop(), standby.stop()]);
          await Promise.all([pair.address.close(), pair.replication.close()]);
        },
        async destroy() {
          await Promise.all([primary.destroy(), standby.destroy()]);
        },
      };
    },
    async isSynchronous() {
      const [found] = await ask(pair.primary.url, 'select sync_state as state from pg_stat_replication');
      return found?.state === 'sync';
    },
  } as PostgresPair;

  async function withStandby({ dataDir, settings, onUnexpectedExit }: PostgresOptions) {
    const folder = `${dataDir}-${STANDBY}`;
    rmSync(folder, { recursive: true, force: true });
    pair.standby = await startStandby(pair.primary, {
      dataDir: folder,
      upstream: pair.replication.url,
      name: STANDBY,
      settings,
      onUnexpectedExit,
    });
    await eventually(async () => {
      if (!(await pair.isSynchronous())) throw new Error('the standby does not follow its primary');
    });
    return pair;
  }
  return pair;
}

async function ask(url: string, sql: string): Promise<{ state: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ state: string }>(sql)).rows;
  } finally {
    await client.end();
  }
}
