import { execFileSync } from 'node:child_process';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPlace } from '@quittance/engines/postgres-place';

const GIGABYTE = 1 << 30;
const root = fileURLToPath(new URL('..', import.meta.url));

export type Machine = {
  cores: number;
  cpu: string;
  memoryGb: number;
  node: string;
  postgres: string;
  /** How many processes wanted a core in the minute before the run: more than a little, and others ran at the same time. */
  load: number;
};

export const machine = (): Machine => ({
  cores: cpus().length,
  cpu: cpus()[0]?.model.trim() ?? '',
  memoryGb: Math.round(totalmem() / GIGABYTE),
  node: process.version,
  postgres: postgresVersion(),
  load: rounded(loadavg()[0] ?? 0),
});

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** Of the server that the engines start. */
function postgresVersion(): string {
  const { binDir } = findPlace(join(tmpdir(), 'quittance-bench'));
  const said = execFileSync(join(binDir, 'postgres'), ['--version'], { encoding: 'utf8' });
  return /[\d.]+/.exec(said)?.[0] ?? said;
}

/** The commit that is checked out; with a `+` when files differ from it. */
export function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!bench');
  return `${git('rev-parse', '--short=10', 'HEAD')}${changed === '' ? '' : '+'}`;
}
