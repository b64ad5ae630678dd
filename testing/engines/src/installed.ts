import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ENGINES_DIR = fileURLToPath(new URL('../../../.engines/', import.meta.url));

/** The engine is not on this machine; the message says what to do. */
export class EngineMissing extends Error {
  override name = 'EngineMissing';
}

export type Installed = { file: string; env: Readonly<Record<string, string>> };

type Entry = { path?: string; libraries?: string[]; problem?: string };
type Found = { natsServer?: Entry; redisServer?: Entry };

/** Where the set-up (tools/setup.mjs) found or put an engine that is no npm package. */
export function installed(engine: 'natsServer' | 'redisServer', enginesDir = ENGINES_DIR): Installed {
  const recordFile = path.join(enginesDir, 'engines.json');
  if (!existsSync(recordFile))
    throw new EngineMissing('the engines are not set up: run `node tools/setup.mjs`');
  const entry = (JSON.parse(readFileSync(recordFile, 'utf8')) as Found)[engine];
  const file = path.resolve(enginesDir, entry?.path ?? engine);
  if (entry?.path === undefined || !existsSync(file)) {
    throw new EngineMissing(entry?.problem ?? `${file} is gone: run \`node tools/setup.mjs\``);
  }
  const libraries = entry.libraries?.map((folder) => path.resolve(enginesDir, folder));
  return { file, env: libraries ? { LD_LIBRARY_PATH: libraries.join(':') } : {} };
}
