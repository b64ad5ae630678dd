import { createReadStream } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { reason } from '@quittance/shared/logger';
import type { Decrypter } from 'age-encryption';
import { CommandError, type Surroundings } from '../surroundings.ts';
import { type BackupHead, FORMAT, readHead } from './backup-file.ts';
import { storeAddress } from './store-address.ts';

const LINE_END = 0x0a;

/** The decrypted lines of a backup, each without its end. */
export type BackupLines = {
  head: BackupHead;
  /** Throws at the end of a file that was cut. */
  next(): Promise<Buffer>;
};

/** Opens a backup of a folder or a store, or standard input for `-`, up to the line that says what it is. */
export async function openBackup(
  around: Surroundings,
  file: string,
  decrypter: Decrypter,
): Promise<BackupLines> {
  if (storeAddress(file)?.path === '')
    throw new CommandError('Name the backup itself, as s3://bucket/name: `quittance backup` has printed it.');
  const source = await open(around, file);
  const name = file === '-' ? 'standard input' : basename(file);
  const damaged = (error: unknown) =>
    error instanceof CommandError
      ? new CommandError(`${error.message} Nothing was restored.`)
      : new CommandError(`${name} is cut off or damaged, and nothing was restored: ${reason(error)}.`);
  const decrypted = await decrypter
    .decrypt(Readable.toWeb(source) as ReadableStream<Uint8Array>)
    .catch((error: unknown) => {
      if (error instanceof CommandError) throw error;
      if (reason(error).includes('no identity matched'))
        throw new CommandError(`${name} is encrypted for another key than the one of --identity.`);
      throw new CommandError(`${name} is no backup, or its beginning is damaged: ${reason(error)}.`);
    });
  const lines = linesOf(decrypted, damaged);
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw damaged(new Error('its end is missing'));
    return value;
  };
  const head = readHead((await next()).toString());
  if (head === undefined)
    throw new CommandError(`${name} was encrypted by another program than \`quittance backup\`.`);
  if (head.format !== FORMAT)
    throw new CommandError(
      `${name} has format ${head.format}, and this release reads format ${FORMAT}: restore it with the release that has made it.`,
    );
  return { head, next };
}

async function open(around: Surroundings, file: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  const address = storeAddress(file);
  if (address === undefined) return await fileStream(resolve(around.cwd, file));
  const [{ openStore }, { storedBytes }] = await Promise.all([
    import('./store.ts'),
    import('./read-store.ts'),
  ]);
  return Readable.from(storedBytes(openStore(around, address.bucket), address.path), { objectMode: false });
}

async function fileStream(file: string): Promise<Readable> {
  const handle = await openFile(file).catch((error: unknown) => {
    throw new CommandError(`The backup cannot be read: ${reason(error)}.`);
  });
  return createReadStream(file, { fd: handle });
}

async function* linesOf(
  encrypted: ReadableStream<Uint8Array>,
  damaged: (error: unknown) => Error,
): AsyncGenerator<Buffer, undefined> {
  const packed = Readable.fromWeb(encrypted as Parameters<typeof Readable.fromWeb>[0]);
  const chunks = packed.compose<ReturnType<typeof createGunzip>>(createGunzip());
  let rest: Buffer[] = [];
  try {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, at)]);
        rest = [];
        from = at + 1;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
    }
  } catch (error) {
    throw damaged(error);
  }
  return undefined;
}
