import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { reason } from '@quittance/shared/logger';
import { CommandError } from './surroundings.ts';

/** Written under another name until it is complete. */
export const UNFINISHED = '.unfinished';

type Place = {
  folder: string;
  /** What its name begins with until it is complete. */
  begins: string;
  /** What it is, for who reads that it cannot be written. */
  what: string;
};

/**
 * Writes a file that only its owner may read: complete, on the disk and under its name, or not there at all. Throws a CommandError
 * when the folder cannot be written to, and whatever `write` throws.
 *
 * @param write writes to its end, may read again what the path has, and answers the name
 */
export async function writeWhole<T extends { name: string }>(
  { folder, begins, what }: Place,
  write: (into: Writable, path: string) => Promise<T>,
): Promise<T & { file: string }> {
  const unfinished = join(folder, `${begins}${UNFINISHED}`);
  const handle = await open(unfinished, 'w', 0o600).catch((error: unknown) => {
    throw new CommandError(`The ${what} cannot be written to ${folder}: ${reason(error)}.`);
  });
  try {
    const written = await write(handle.createWriteStream({ flush: true }), unfinished);
    const file = join(folder, written.name);
    await rename(unfinished, file);
    return { ...written, file };
  } catch (error) {
    await handle.close();
    await rm(unfinished, { force: true });
    throw error;
  }
}
