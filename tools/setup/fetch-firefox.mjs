// With FIREFOX=1: finds or fetches a Firefox for the tests, and says that it is wanted. It is 80 MB, and 150 MB with its libraries.

import { cleanPath, ENGINES_DIR, say } from './commands.mjs';
import { findFirefox, firefoxIsReady } from './firefox.mjs';
import { underLock } from './lock.mjs';

async function main() {
  if (process.env.FIREFOX !== '1') return;
  process.stdout.write('wanted\n');
  if (firefoxIsReady()) return;
  await underLock(async () => {
    if (!firefoxIsReady())
      await findFirefox({ enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say });
  });
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
