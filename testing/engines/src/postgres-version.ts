import { readFileSync } from 'node:fs';
import path from 'node:path';
import { EngineFailed } from './process.ts';

/** The folder of another Postgres than that of the packages, which `POSTGRES=15 npm test` fetches and names. */
export const chosenPostgres = (): string | undefined => process.env['POSTGRES_NATIVE'];

/** The major version of the Postgres whose binaries are in this folder, such as `18`. */
export function majorOf(binDir: string): string {
  const file = path.join(binDir, '..', 'share', 'postgresql', 'postgres.bki');
  const major = /^# PostgreSQL (\d+)\n/.exec(readFileSync(file, 'utf8'))?.[1];
  if (major === undefined) throw new EngineFailed(`${file} does not say of which Postgres it is`);
  return major;
}

const BUILTIN_SINCE = 17;

/** Postgres' own collation where it has one: sorting does not depend on the machine's libraries. */
export const localeFlags = (major: string): string[] =>
  // eslint-disable-next-line no-restricted-syntax -- a version
  Number(major) >= BUILTIN_SINCE
    ? ['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C']
    : ['--locale', 'C.UTF-8'];
