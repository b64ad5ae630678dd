import { readdirSync } from 'node:fs';
import type { Quittance } from '@quittance/testkit/quittance';
import { residentMegabytes } from '../processes.ts';

/** What is looked at once in a while: a figure by what it is of. */
export type Sample = {
  /** Resident memory, of each process. */
  megabytes: Record<string, number>;
  /** Open files and sockets, of each process. */
  descriptors: Record<string, number>;
  /** The 99th percentile since the sample before, of each service. */
  lagMs: Record<string, number>;
  /** What each table takes on the disk with its indexes, for each of its rows: of a small one as if it had FEW_ROWS. */
  bytes: Record<string, number>;
};

const ASK_WITHIN_MS = 5_000;
const FEW_ROWS = 1_000;
const SECOND_MS = 1_000;
const LAG = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m;

export type Watched = {
  processes: Readonly<Record<string, number | undefined>>;
  /** Where each service shows its metrics. */
  metrics: Readonly<Record<string, string>>;
  db: Quittance['db'];
};

export async function sample({ processes, metrics, db }: Watched): Promise<Sample> {
  const running = Object.entries(processes).flatMap(([name, pid]) =>
    pid === undefined ? [] : [{ name, pid }],
  );
  const lags = Object.entries(metrics).map(async ([name, url]) => [name, await lagOf(url)] as const);
  return {
    megabytes: Object.fromEntries(running.map(({ name, pid }) => [name, residentMegabytes(pid)])),
    descriptors: Object.fromEntries(
      running.map(({ name, pid }) => [name, readdirSync(`/proc/${pid}/fd`).length]),
    ),
    lagMs: Object.fromEntries(await Promise.all(lags)),
    bytes: await bytesOfTables(db),
  };
}

async function lagOf(url: string): Promise<number> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ASK_WITHIN_MS) });
  const [, seconds] = LAG.exec(await answer.text()) ?? [];
  if (seconds === undefined) throw new Error(`${url} does not tell the lag of its event loop`);
  return Number(seconds) * SECOND_MS; // eslint-disable-line no-restricted-syntax -- a time
}

async function bytesOfTables(db: Quittance['db']): Promise<Record<string, number>> {
  const tables = await db.rows<{ name: string; bytes: number }>(
    `select schemaname || '.' || relname as name,
       (pg_total_relation_size(relid) / greatest(n_live_tup, $1))::float as bytes
     from pg_stat_user_tables`,
    [FEW_ROWS],
  );
  return Object.fromEntries(tables.map(({ name, bytes }) => [name, bytes]));
}
