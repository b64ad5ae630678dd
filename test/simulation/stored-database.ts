import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';

/** Postgres as machine code: threads that are given it need not compile their own. */
export type PostgresCode = Required<Pick<PGliteOptions, 'pgliteWasmModule' | 'initdbWasmModule'>>;

/** Of JavaScript; TypeScript knows it only where there is a document. */
declare const WebAssembly: { compile(code: Uint8Array): Promise<PostgresCode['pgliteWasmModule']> };

const FOLDER = fileURLToPath(new URL('../../.engines/simulation/', import.meta.url));
const DIGEST_BYTES = 32;
/** Databases of other migrations are deleted after so long. */
const UNUSED_MS = 24 * 60 * 60_000;

type Recipe = {
  configuration: string[];
  statements: readonly string[];
  finish: (pglite: PGlite) => Promise<void>;
  /** The source of `finish`, which makes another database when it changes. */
  source: string;
  code?: PostgresCode | undefined;
};

/** Compiled once, for all threads. */
export async function compilePostgres(): Promise<PostgresCode> {
  const compile = async (name: string) =>
    await WebAssembly.compile(await readFile(fileOfPglite(`dist/${name}`)));
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    compile('pglite.wasm'),
    compile('initdb.wasm'),
  ]);
  return { pgliteWasmModule, initdbWasmModule };
}

/**
 * The database after these statements, from a file that a former process wrote, or else made and written for later ones.
 * Postgres takes the file for a data directory after a crash, so unlogged tables are empty.
 */
export async function openStored({
  configuration,
  statements,
  finish,
  source,
  code,
}: Recipe): Promise<PGlite> {
  const { version } = JSON.parse(readFileSync(fileOfPglite('package.json'), 'utf8')) as { version: string };
  const key = digest(JSON.stringify([version, configuration, statements, source])).toString('hex');
  const file = join(FOLDER, `${key}.tar`);
  const stored = readStored(file);
  if (stored !== undefined)
    return await PGlite.create({ loadDataDir: new Blob([stored]), postgresqlconf: configuration, ...code });
  const pglite = await PGlite.create({ postgresqlconf: configuration, ...code });
  for (const statement of statements) await pglite.exec(statement);
  await finish(pglite);
  await pglite.exec('checkpoint');
  const dump = await pglite.dumpDataDir('none');
  writeStored(file, new Uint8Array(await dump.arrayBuffer()));
  return pglite;
}

const fileOfPglite = (name: string): string =>
  fileURLToPath(new URL(`../${name}`, import.meta.resolve('@electric-sql/pglite')));

const digest = (content: Uint8Array | string): Buffer => createHash('sha256').update(content).digest();

/** Undefined when there is no such file, or not all of it. */
export function readStored(file: string): Uint8Array<ArrayBuffer> | undefined {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(readFileSync(file));
  } catch {
    return undefined;
  }
  const content = bytes.subarray(DIGEST_BYTES);
  return digest(content).equals(bytes.subarray(0, DIGEST_BYTES)) ? content : undefined;
}

/** Several threads and processes may write the same file at once: each renames a whole one. */
export function writeStored(file: string, content: Uint8Array): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  const scratch = `${file}.${randomUUID()}`;
  writeFileSync(scratch, Buffer.concat([digest(content), content]));
  renameSync(scratch, file);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another may have renamed it meanwhile.
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    const isUnused = name !== basename(file) && written !== undefined && Date.now() - written > UNUSED_MS;
    if (isUnused) rmSync(path, { force: true });
  }
}
