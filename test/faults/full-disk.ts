import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskImage } from './disk-image.ts';

/** A file takes all the room that a disk has, also what only root may have. @returns makes room again. */
export function fillUp({ folder }: DiskImage): () => void {
  const filler = join(folder, 'filler');
  const { bsize, bfree } = statfsSync(folder);
  for (let left = bsize * bfree; left > bsize; left = Math.floor(left / 2)) fill(filler, left);
  return () => rmSync(filler, { force: true });
}

function fill(file: string, bytes: number): void {
  const from = String(statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  try {
    execFileSync('fallocate', ['--offset', from, '--length', String(bytes), file], { stdio: 'ignore' });
  } catch {
    // That much is not left: half of it may be.
  }
}
