import { resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { adminDatabase } from '../database-settings.ts';
import type { SaidOutcome } from '../outcome.ts';
import { say } from '../output.ts';
import { CommandError, type Surroundings } from '../surroundings.ts';
import { table } from '../table.ts';
import { writeWhole } from '../whole-file.ts';
import { encrypterFor } from './age-keys.ts';
import { type BackupHead, fileName, servicesOf, totalOf } from './backup-file.ts';
import { beginDump, type Dumped, dumpRecords } from './dump-records.ts';
import { withConnection } from './record-tables.ts';
import { keyBelow, type StoreAddress, storeAddress } from './store-address.ts';

export type BackupOrder = { to: string; recipient: readonly string[]; json?: boolean };

/** Standard output, for another program. */
const PIPE = '-';

/** Takes the bytes of a backup, to their end. */
type Sink = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

/** Writes all records of one moment into an encrypted file of a folder, a store that speaks S3, or to standard output. */
export async function backUp(
  around: Surroundings,
  { to, recipient, json }: BackupOrder,
  pipe: Writable = process.stdout,
): Promise<SaidOutcome> {
  if (to === PIPE && json === true)
    throw new CommandError('--json and --to - both write to standard output: use one of them.');
  const encrypter = encrypterFor(recipient);
  const address = storeAddress(to);
  const upload = address === undefined ? undefined : await uploadInto(around, address);
  return await withConnection(adminDatabase(around), async (client) => {
    const head = await beginDump(client);
    const write: Write = (into, stop) => writeBackup({ client, head, encrypter }, into, stop);
    const name = fileName(new Date(head.at));
    if (upload !== undefined) return told(await upload(name, write));
    if (to !== PIPE) {
      const place = { folder: resolve(around.cwd, to), begins: `quittance-${process.pid}`, what: 'backup' };
      return told(await writeWhole(place, async (into) => ({ ...(await write(into)), name })));
    }
    await write(pipe);
    around.err(`Backed up as of ${head.at}.\n`);
    return { json: null, text: say`` };
  });
}

type Written = { dumped: Dumped; bytes: number };
type Write = (into: Writable | Sink, stop?: AbortSignal) => Promise<Written>;
type Source = { client: pg.Client; head: BackupHead; encrypter: ReturnType<typeof encrypterFor> };

async function writeBackup(
  { client, head, encrypter }: Source,
  into: Writable | Sink,
  stop?: AbortSignal,
): Promise<Written> {
  let dumped: Dumped | undefined;
  let bytes = 0;
  const records = Readable.from(
    dumpRecords(client, head, (what) => {
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
    { end: into !== process.stdout, ...(stop === undefined ? {} : { signal: stop }) },
  );
  await packing;
  if (dumped === undefined) throw new Error('the records were not read to their end');
  return { dumped, bytes };
}

type Saved = Written & { file: string };

/** Opens the store before the database is read. */
async function uploadInto(around: Surroundings, address: StoreAddress) {
  const [{ openStore }, { uploadBackup }] = await Promise.all([
    import('./store.ts'),
    import('./upload-backup.ts'),
  ]);
  const store = openStore(around, address.bucket);
  const stop = around.stopping?.() ?? new AbortController().signal;
  return async (name: string, write: Write): Promise<Saved> => {
    const key = keyBelow(address, name);
    const written = await write((chunks) => uploadBackup(store, key, chunks, stop), stop);
    return { ...written, file: `s3://${address.bucket}/${key}` };
  };
}

function told({ dumped: { head, tables }, bytes, file }: Saved): SaidOutcome {
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
