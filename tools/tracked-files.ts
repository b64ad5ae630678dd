import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/** @param path from the root */
export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The files that are ours, also the new ones: what git tracks or would track, as paths from the root. */
export function trackedFiles(): string[] {
  let listed: string;
  try {
    listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch {
    // Unpacked from an archive, or no git on this machine: then everything that is not known to be made here.
    return globSync('**/*', {
      cwd: root,
      withFileTypes: true,
      exclude: (entry) =>
        ['node_modules', '.git', '.engines', '.sandbox', '.nightly', 'coverage', 'dist'].includes(entry.name),
    })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  }
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
}
