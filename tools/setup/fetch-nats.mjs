// Finds or fetches nats-server for the test kit that is installed from npm. A checkout runs tools/setup.mjs instead.

import fs from 'node:fs';
import { cleanPath, ENGINES_DIR, say } from './commands.mjs';
import { findEngines, natsIsReady } from './engines.mjs';
import { takeLock } from './lock.mjs';

async function main() {
  if (natsIsReady()) return;
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const lock = await takeLock();
  try {
    if (natsIsReady()) return;
    const setup = { enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say, redis: false };
    const problem = await findEngines(setup);
    if (problem) throw new Error(problem);
  } finally {
    lock.release();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
