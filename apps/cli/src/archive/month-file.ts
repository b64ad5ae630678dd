import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { failpoint } from '@quittance/shared/failpoint';
import { reason } from '@quittance/shared/logger';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { CommandError } from '../surroundings.ts';
import { writeWhole } from '../whole-file.ts';
import { copyOf } from './pruned-months.ts';

/** What a file has, before it is compressed. */
type Content = { lines: number; sha256: string };
export type MonthFile = Content & { file: string };

const LINE_END = 0x0a;

/** Passes bytes on and takes their measure. */
function measuring() {
  const hash = createHash('sha256');
  let lines = 0;
  return {
    async *pass(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) lines += 1;
        yield chunk;
      }
    },
    content: (): Content => ({ lines, sha256: hash.digest('hex') }),
  };
}

/**
 * Writes the pruned events of a month into a file of the folder, one event a line, and reads it again. The digest of the content is
 * in the name: a run that was killed writes the same file again, and events that were pruned later never replace others.
 */
export async function writeMonth(client: pg.Client, folder: string, month: string): Promise<MonthFile> {
  const place = { folder, begins: `events-${month}`, what: 'archive' };
  const { lines, sha256, file } = await writeWhole(place, async (into, path) => {
    const copy = client.query(copyTo(copyOf(month)));
    const { pass, content } = measuring();
    await pipeline(copy, pass, createGzip(), into);
    const written = content();
    if (written.lines !== copy.rowCount)
      throw new Error(`${copy.rowCount} events of ${month} are ${written.lines} lines`);
    await readAgain(path, written);
    failpoint('archive.written');
    return { ...written, name: `events-${month}-${written.sha256.slice(0, 16)}.jsonl.gz` };
  });
  await syncFolder(folder);
  failpoint('archive.named');
  return { lines, sha256, file };
}

/** Reads a file to its end. Throws when its content is another one than was written. */
export async function readAgain(file: string, written: Content): Promise<void> {
  const { pass, content } = measuring();
  try {
    await pipeline(createReadStream(file), createGunzip(), pass, async (chunks) => {
      for await (const _ of chunks);
    });
  } catch (error) {
    throw damaged(file, reason(error));
  }
  const { lines, sha256 } = content();
  if (lines !== written.lines || sha256 !== written.sha256)
    throw damaged(file, `${lines} events instead of ${written.lines}, sha256 ${sha256}`);
}

const damaged = (file: string, why: string): CommandError =>
  new CommandError(
    `${file} is not what was written (${why}). Nothing of its month was removed from the database: look at the disk.`,
  );

/** So that the new name is on the disk as well. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
