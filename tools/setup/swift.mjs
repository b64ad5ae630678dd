// Finds or fetches OpenStack Swift, for the tests of backups in a store that speaks S3: Debian's packages, unpacked in .engines/ without
// root and run by the machine's own Python, for which their compiled parts were made.

import fs from 'node:fs';
import path from 'node:path';
import { cleanPath, ENGINES_DIR, SetupError, say } from './commands.mjs';
import { aptFor, libraryPath, osRelease, unpackDebs } from './debian.mjs';
import { attempt, firstGood } from './programs.mjs';

const PYTHON = '/usr/bin/python3';
/** Swift, and what it imports for this. What else its package depends on keeps a cluster going. */
const PACKAGES = [
  ...['swift', 'cffi-backend', 'dnspython', 'eventlet', 'greenlet', 'lxml', 'netifaces', 'pastedeploy'],
  ...['pkg-resources', 'pyeclib', 'six', 'xattr'],
].map((name) => `python3-${name}`);
const LIBRARIES = ['liberasurecode1'];
/** Of Swift. An older one gives objects that were uploaded in parts another ETag than S3 does. */
const VERSION_MIN = [2, 21, 0];

const filesIn = (folder) => [path.join(folder, 'swift-python')];

/** @returns {Promise<string>} the Python that has Swift; it says Swift's version to `--version` */
export async function findSwift() {
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const kept = path.join(ENGINES_DIR, 'swift');
  const good = await firstGood(filesIn(kept), VERSION_MIN);
  if (good) return good.path;
  say('fetching OpenStack Swift (for the tests of backups in a store) …');
  const setup = { enginesDir: ENGINES_DIR, path: cleanPath() };
  const { engine, problem } = await attempt(setup, kept, fetchInto, filesIn, VERSION_MIN);
  if (engine) return engine.path;
  throw new SetupError(`there is no OpenStack Swift (${problem})`);
}

async function fetchInto(setup, scratch) {
  const release = osRelease();
  if (release.ID !== 'debian' || !release.VERSION_CODENAME || !fs.existsSync(PYTHON))
    throw new Error(
      `this is ${release.PRETTY_NAME ?? process.platform}, it is only fetched on Debian with Python`,
    );
  const apt = await aptFor(scratch, release.VERSION_CODENAME, setup);
  await apt(['download', ...PACKAGES, ...LIBRARIES]);
  await unpackDebs(scratch, scratch);
  const root = path.join(scratch, 'root');
  const libraries = (libraryPath(root) ?? '').replaceAll(root, '$here');
  fs.writeFileSync(path.join(root, 'swift-python'), launcher(libraries), { mode: 0o755 });
  fs.renameSync(root, path.join(scratch, 'out'));
}

/** The folder may be moved. */
const launcher = (libraries) => `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$here/usr/lib/python3/dist-packages" LD_LIBRARY_PATH="${libraries}"
[ "$1" = --version ] && set -- -c 'import swift, swift.proxy.server, swift.obj.server; print(swift.__version__)'
exec ${PYTHON} "$@"
`;
