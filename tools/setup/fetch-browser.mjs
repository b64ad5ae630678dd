// Finds or fetches a Chromium for the tests in a browser; .engines/browser.json then says where it is, or why there is none.

import fs from 'node:fs';
import { browserIsReady, findBrowser } from './browser.mjs';
import { cleanPath, ENGINES_DIR, say } from './commands.mjs';
import { takeLock } from './lock.mjs';

async function main() {
  if (browserIsReady()) return;
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const lock = await takeLock();
  try {
    if (browserIsReady()) return;
    await findBrowser({ enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say });
  } finally {
    lock.release();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
