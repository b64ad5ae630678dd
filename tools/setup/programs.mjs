// What the set-up does with every program that it finds or fetches: tries it, puts it into .engines and records it.

import fs from 'node:fs';
import path from 'node:path';
import { ENGINES_DIR, run } from './commands.mjs';
import { libraryPath } from './debian.mjs';

/**
 * A recorded program counts while its file is there and it came from where it would be looked for now: the variable that
 * names one overrides everything, also what was found before it was set.
 */
export function isRecorded(engine, override) {
  if (!engine?.path) return false;
  if (override ? engine.path !== path.resolve(override) : engine.source === 'override') return false;
  return fs.existsSync(path.resolve(ENGINES_DIR, engine.path));
}

/** Of a program that is optional, a failed search is remembered for an hour instead of costing every start seconds. */
export function isRecentlyMissing(engine, override) {
  return !override && Date.now() - Date.parse(engine?.missingSince ?? '') < 3_600_000;
}

/** What is recorded of a search that failed. */
export const missing = (problem) => ({ missingSince: new Date().toISOString(), problem });

/**
 * Fetches into a scratch folder inside .engines (so that the last step is a rename, and a shared /tmp
 * does not matter), tries the binary, which is one of `filesIn` a folder, and only then puts it in its place.
 */
export async function attempt(setup, folder, fetchInto, filesIn, versionMin) {
  const scratch = fs.mkdtempSync(path.join(setup.enginesDir, 'scratch-'));
  const out = path.join(scratch, 'out');
  fs.mkdirSync(out);
  try {
    await fetchInto(setup, scratch);
    const good = await firstGood(filesIn(out), versionMin, libraryPath(out));
    if (!good) throw new Error(`what was fetched does not run here or is older than ${versionMin.join('.')}`);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(out, folder);
    return { engine: { ...good, path: path.join(folder, path.relative(out, good.path)) } };
  } catch (error) {
    // Retries and apt say the same thing several times over.
    const lines = new Set(error.message.trim().split('\n'));
    return { problem: [...lines].slice(-3).join(' / ') };
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** The record names what lies in .engines relative to it, so that a checkout may be moved. */
export function fetched(setup, engine, source) {
  const root = path.join(setup.enginesDir, path.relative(setup.enginesDir, engine.path).split(path.sep)[0]);
  const libraries = libraryPath(root)
    ?.split(':')
    .map((folder) => path.relative(setup.enginesDir, folder));
  const record = { ...engine, path: path.relative(setup.enginesDir, engine.path), source };
  return { engine: libraries ? { ...record, libraries } : record };
}

export async function theOverride(variable, file, versionMin) {
  const resolved = path.resolve(file);
  const version = await versionOf(resolved);
  if (!version) return { problem: `${variable} is set to ${file}, but nothing there answers to --version.` };
  if (isOlder(version, versionMin)) {
    return {
      problem: `${variable} is set to ${file}, which is ${version.join('.')}; ${versionMin.join('.')} or newer is needed.`,
    };
  }
  return { engine: { path: resolved, version: version.join('.'), source: 'override' } };
}

export async function firstGood(files, versionMin, libraries) {
  for (const file of files) {
    const version = fs.existsSync(file) ? await versionOf(file, libraries) : undefined;
    if (version && !isOlder(version, versionMin)) return { path: file, version: version.join('.') };
  }
  return undefined;
}

async function versionOf(file, libraries) {
  const env = libraries ? { ...process.env, LD_LIBRARY_PATH: libraries } : process.env;
  const answer = await run(file, ['--version'], { env, timeout: 10_000 });
  const match = answer.code === 0 ? /(?:^|[\sv=])(\d+)\.(\d+)\.(\d+)/.exec(answer.output) : null;
  return match ? match.slice(1, 4).map(Number) : undefined;
}

function isOlder(version, than) {
  const at = version.findIndex((part, index) => part !== than[index]);
  return at >= 0 && version[at] < than[at];
}

/** Left over from a set-up that was killed; only the holder of the set-up's lock gets here. */
export function sweepScratch(enginesDir) {
  for (const name of fs.readdirSync(enginesDir).filter((entry) => entry.startsWith('scratch-'))) {
    fs.rmSync(path.join(enginesDir, name), { recursive: true, force: true });
  }
}
