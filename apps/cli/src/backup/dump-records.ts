import { createHash } from 'node:crypto';
import { type Service, services } from '@quittance/shared/events';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { keepRemovalsOut } from '../archive/removal-lock.ts';
import { type BackedUpTable, type BackupHead, FORMAT, headLine, tailLine } from './backup-file.ts';
import { appliedMigrations, type RecordTable, recordTables, usedSequences } from './record-tables.ts';

export type Dumped = { head: BackupHead; tables: Record<string, BackedUpTable> };

/**
 * Begins the one transaction that reads all records of one moment. It waits until no month of pruned events is being removed,
 * and no service waits for it.
 */
export async function beginDump(client: pg.Client): Promise<BackupHead> {
  await keepRemovalsOut(client);
  await client.query('begin isolation level repeatable read, read only');
  const { rows } = await client.query<{ at: Date }>('select now() as at');
  const migrations: Partial<Record<Service, string[]>> = {};
  for (const service of services) migrations[service] = await appliedMigrations(client, service);
  return { format: FORMAT, at: (rows[0]?.at ?? new Date(0)).toISOString(), migrations };
}

/** The records of all services as of that moment, as SQL. `dumped` is told what was written, at the end. */
export async function* dumpRecords(
  client: pg.Client,
  head: BackupHead,
  dumped: (what: Dumped) => void,
): AsyncGenerator<Buffer | string> {
  yield headLine(head);
  yield 'set session_replication_role = replica;\n';
  const tables: Record<string, BackedUpTable> = {};
  for (const table of await recordTables(client, services)) {
    yield `copy ${table.name} (${table.columns}) from stdin;\n`;
    tables[table.name] = yield* dumpTable(client, table);
    yield '\\.\n';
  }
  // A sequence is not of the snapshot: it may be ahead of the rows, never behind.
  for (const { name, last } of await usedSequences(client, services))
    yield `select pg_catalog.setval('${name}', ${last}, true);\n`;
  await client.query('commit');
  yield tailLine({ tables });
  dumped({ head, tables });
}

async function* dumpTable(
  client: pg.Client,
  { name, columns }: RecordTable,
): AsyncGenerator<Buffer, BackedUpTable> {
  const copy = client.query(copyTo(`copy ${name} (${columns}) to stdout`));
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of copy as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  return { rows: copy.rowCount, bytes, sha256: hash.digest('hex') };
}
