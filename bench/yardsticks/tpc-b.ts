import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Sample } from '../benchmark.ts';

/** As many branches as clients, so that these seldom wait for each other's rows. */
const CLIENTS = 16;
const SCALE = 16;
const DATABASE = 'tpcb';
const DEBIAN = '/usr/lib/postgresql';

/** pgbench of this machine: the package of Postgres that the engines are from has none. */
function pgbench(): string {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((major) => join(DEBIAN, major, 'bin')) : [];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...debian];
  const found = folders.map((folder) => join(folder, 'pgbench')).find((file) => existsSync(file));
  if (found === undefined)
    throw new Error(
      'pgbench is not on this machine: on Debian it comes with postgresql-contrib or postgresql-NN',
    );
  return found;
}

export type TpcB = { measure(seconds?: number): Promise<Sample> };

/**
 * The TPC-B transaction of pgbench on this server at its best: 16 clients, prepared statements. The figure is transactions
 * per second.
 */
export async function openTpcB(serverUrl: string): Promise<TpcB> {
  const url = new URL(serverUrl);
  await onServer(url.href, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  });
  url.pathname = `/${DATABASE}`;
  const run = (...args: string[]) => promisify(execFile)(pgbench(), [...args, url.href]);
  const isFilled = await onServer(
    url.href,
    async (client) =>
      (await client.query(`select to_regclass('pgbench_accounts') is not null as filled`)).rows[0].filled,
  );
  if (!isFilled) await run('--initialize', '--quiet', `--scale=${SCALE}`);
  return {
    async measure(seconds = 3) {
      const { stdout } = await run(
        ...['--no-vacuum', `--client=${CLIENTS}`, '--jobs=2', `--time=${seconds}`, '--protocol=prepared'],
      );
      const read = (form: RegExp) => Number(form.exec(stdout)?.[1]); // eslint-disable-line no-restricted-syntax -- a rate
      const figure = read(/tps = ([\d.]+)/);
      if (!(figure > 0)) throw new Error(`pgbench says ${stdout}`);
      const operations = read(/number of transactions actually processed: (\d+)/);
      return { figure, operations };
    },
  };
}

/** Runs `work` on a connection of its own. */
export async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
