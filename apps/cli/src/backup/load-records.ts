import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { CommandError } from '../surroundings.ts';
import { type BackedUpTable, type BackupTail, readTail } from './backup-file.ts';
import type { BackupLines } from './read-backup.ts';
import type { RecordTable } from './record-tables.ts';

const COPY = /^copy (\S+) \((.*)\) from stdin;$/;
const SEQUENCE = /^select pg_catalog\.setval\('([a-z_]+)\.([a-z_0-9]+)', (\d+), true\);$/;
const END_OF_TABLE = '\\.';
/** Rows are sent in pieces of about this size. */
const PIECE_BYTES = 256 * 1024;

const LINE_END = Buffer.from('\n');

/**
 * Writes the rows of these tables, and their sequences, in the transaction of the connection; the others' are passed over. No
 * statement of the file is executed. Throws when a table is not what the end of the file says.
 */
export async function loadRecords(
  client: pg.Client,
  { next }: Pick<BackupLines, 'next'>,
  wanted: readonly RecordTable[],
): Promise<Record<string, BackedUpTable>> {
  const tables = new Map(wanted.map((table) => [table.name, table]));
  const services = new Set<string>(wanted.map(({ service }) => service));
  const loaded: Record<string, BackedUpTable> = {};
  for (;;) {
    const line = (await next()).toString();
    const tail = readTail(line);
    if (tail !== undefined) return complete(tail, loaded);
    const [, name = '', columns = ''] = COPY.exec(line) ?? [];
    const [, schema = '', sequence = '', last = ''] = SEQUENCE.exec(line) ?? [];
    const table = tables.get(name);
    if (name !== '' && table === undefined) await passOver(next);
    else if (table !== undefined)
      loaded[name] = await loadTable(client, next, `${name} (${knownColumns(table, columns)})`);
    else if (services.has(schema))
      await client.query('select setval($1::regclass, $2::bigint, true)', [`${schema}.${sequence}`, last]);
  }
}

/** These become part of a statement, and anybody can make a file with the public key: only names that the table has are taken. */
function knownColumns({ name, columns }: RecordTable, given: string): string {
  const known = new Set(columns.split(', '));
  if (given.split(', ').some((column) => !known.has(column)))
    throw new CommandError(`The columns of ${name} are not those of this release: nothing was restored.`);
  return given;
}

async function passOver(next: BackupLines['next']): Promise<void> {
  while ((await next()).toString() !== END_OF_TABLE);
}

async function loadTable(
  client: pg.Client,
  next: BackupLines['next'],
  target: string,
): Promise<BackedUpTable> {
  const copy = client.query(copyFrom(`copy ${target} from stdin`));
  const done = finished(copy);
  // Awaited below; before that it may fail while a line is read.
  done.catch(() => undefined);
  const hash = createHash('sha256');
  let [rows, bytes] = [0, 0];
  let piece: Buffer[] = [];
  let size = 0;
  const send = async () => {
    const chunk = Buffer.concat(piece);
    piece = [];
    size = 0;
    hash.update(chunk);
    bytes += chunk.length;
    if (!copy.write(chunk)) await Promise.race([once(copy, 'drain'), done]);
  };
  try {
    for (let line = await next(); line.toString('latin1') !== END_OF_TABLE; line = await next()) {
      rows += 1;
      piece.push(line, LINE_END);
      size += line.length + 1;
      if (size >= PIECE_BYTES) await send();
    }
  } catch (error) {
    copy.destroy();
    throw error;
  }
  await send();
  copy.end();
  await done;
  return { rows, bytes, sha256: hash.digest('hex') };
}

function complete(
  { tables }: BackupTail,
  loaded: Record<string, BackedUpTable>,
): Record<string, BackedUpTable> {
  for (const [name, { rows, sha256 }] of Object.entries(loaded)) {
    const written = tables[name];
    if (written?.rows !== rows || written.sha256 !== sha256)
      throw new CommandError(`The rows of ${name} are not those that were backed up: nothing was restored.`);
  }
  return loaded;
}
