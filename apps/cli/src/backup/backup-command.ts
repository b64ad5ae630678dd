import { open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { reason } from '@quittance/shared/logger';
import type pg from 'pg';
import type { SaidOutcome } from '../outcome.ts';
import { say } from '../output.ts';
import { adminDatabase } from '../settings.ts';
import { CommandError, type Surroundings } from '../surroundings.ts';
import { table } from '../table.ts';
import { encrypterFor } from './age-keys.ts';
import { fileName, servicesOf, totalOf, UNFINISHED } from './backup-file.ts';
import { type Dumped, dumpRecords } from './dump-records.ts';
import { withConnection } from './record-tables.ts';

export type BackupOrder = { to: string; recipient: readonly string[]; json?: boolean };

/** Standard output, for another program. */
const PIPE = '-';

/** Writes all records of one moment into an encrypted file of a folder, or to standard output. */
export async function backUp(
  around: Surroundings,
  { to, recipient, json }: BackupOrder,
  pipe: Writable = process.stdout,
): Promise<SaidOutcome> {
  if (to === PIPE && json === true)
    throw new CommandError('--json and --to - both write to standard output: use one of them.');
  const encrypter = encrypterFor(recipient);
  return await withConnection(adminDatabase(around), async (client) => {
    const write = (into: Writable) => writeBackup(client, encrypter, into);
    if (to !== PIPE) return told(await writeFileIn(resolve(around.cwd, to), write));
    const { dumped } = await write(pipe);
    around.err(`Backed up as of ${dumped.head.at}.\n`);
    return { json: null, text: say`` };
  });
}

type Written = { dumped: Dumped; bytes: number };

async function writeBackup(
  client: pg.Client,
  encrypter: ReturnType<typeof encrypterFor>,
  into: Writable,
): Promise<Written> {
  let dumped: Dumped | undefined;
  let bytes = 0;
  const records = Readable.from(
    dumpRecords(client, (what) => {
      dumped = what;
    }),
  );
  const compressed = createGzip();
  const packing = pipeline(records, compressed);
  // Told by the pipeline below as well.
  packing.catch((error: Error) => compressed.destroy(error));
  const encrypted = await encrypter.encrypt(Readable.toWeb(compressed) as ReadableStream<Uint8Array>);
  await pipeline(
    Readable.fromWeb(encrypted as Parameters<typeof Readable.fromWeb>[0]),
    async function* counted(chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    },
    into,
    { end: into !== process.stdout },
  );
  await packing;
  if (dumped === undefined) throw new Error('the records were not read to their end');
  return { dumped, bytes };
}

/** Complete, on the disk and under its name, or not at all. */
async function writeFileIn(
  folder: string,
  write: (into: Writable) => Promise<Written>,
): Promise<Written & { file: string }> {
  const unfinished = join(folder, `quittance-${process.pid}${UNFINISHED}`);
  const handle = await open(unfinished, 'w', 0o600).catch((error: unknown) => {
    throw new CommandError(`The backup cannot be written to ${folder}: ${reason(error)}.`);
  });
  try {
    const written = await write(handle.createWriteStream({ flush: true }));
    const file = join(folder, fileName(new Date(written.dumped.head.at)));
    await rename(unfinished, file);
    return { ...written, file };
  } catch (error) {
    await handle.close();
    await rm(unfinished, { force: true });
    throw error;
  }
}

function told({ dumped: { head, tables }, bytes, file }: Written & { file: string }): SaidOutcome {
  const services = servicesOf(head).map((service) => ({ service, ...totalOf(tables, service) }));
  return {
    json: { file, at: head.at, bytes, services },
    text: say`${table(
      ['SERVICE', 'ROWS', 'BYTES'],
      services.map(({ service, rows, bytes: own }) => [service, String(rows), String(own)]),
    )}
Backed up as of ${head.at}: ${file}, ${bytes} bytes, encrypted.\n`,
  };
}
