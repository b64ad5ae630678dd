// Finds or fetches a Chromium for the tests in a browser; .engines/browser.json then says where it is, or why there is none.

import { browserIsReady, findBrowser } from './browser.mjs';
import { cleanPath, ENGINES_DIR, say } from './commands.mjs';
import { underLock } from './lock.mjs';

async function main() {
  if (browserIsReady()) return;
  await underLock(async () => {
    if (browserIsReady()) return;
    await findBrowser({ enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say });
  });
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
