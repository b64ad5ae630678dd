// Finds Prometheus for the tests of its alerts, or fetches Debian's into .engines/ without root. apt checks Debian's signatures and
// hashes itself. Both programs of the package need libc alone, so nothing else of it is fetched.

import fs from 'node:fs';
import path from 'node:path';
import { cleanPath, onPath, SetupError } from './commands.mjs';
import { aptFor, osRelease, unpackDebs } from './debian.mjs';
import { attempt, firstGood } from './programs.mjs';

/** An older promtool knows no external labels in tests of rules. */
const VERSION_MIN = [2, 30, 0];

const filesIn = (folder) => [path.join(folder, 'usr', 'bin', 'prometheus')];
const isWhole = (file) => fs.existsSync(path.join(path.dirname(file), 'promtool'));

/**
 * @param {{ enginesDir: string, path: string, say: (message: string) => void }} setup
 * @returns {Promise<string>} the folder with `prometheus` and `promtool`
 */
export async function findPrometheus(setup) {
  const { PROMETHEUS_PATH: override } = process.env;
  const kept = path.join(setup.enginesDir, 'prometheus');
  const candidates = override ? [override] : [...onPath(['prometheus'], cleanPath()), ...filesIn(kept)];
  const good = await firstGood(candidates.filter(isWhole), VERSION_MIN);
  if (good) return path.dirname(good.path);
  if (override)
    throw new SetupError(
      `PROMETHEUS_PATH is ${override}: no prometheus ${VERSION_MIN.join('.')} or newer with promtool in its folder`,
    );
  setup.say('fetching prometheus (for the tests of alerts) …');
  const { engine, problem } = await attempt(setup, kept, fetchInto, filesIn, VERSION_MIN);
  if (engine) return path.dirname(engine.path);
  throw new SetupError(
    `there is no Prometheus (${problem}). Install it with promtool, or say where it is: PROMETHEUS_PATH=/path/to/prometheus`,
  );
}

async function fetchInto(setup, scratch) {
  const release = osRelease();
  if (release.ID !== 'debian' || !release.VERSION_CODENAME)
    throw new Error(`this is ${release.PRETTY_NAME ?? process.platform}, it is only fetched on Debian`);
  const apt = await aptFor(scratch, release.VERSION_CODENAME, setup);
  await apt(['download', 'prometheus']);
  await unpackDebs(scratch, scratch);
  fs.renameSync(path.join(scratch, 'root'), path.join(scratch, 'out'));
}
