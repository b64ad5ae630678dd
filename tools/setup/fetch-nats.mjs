// Finds or fetches nats-server for the test kit that is installed from npm. A checkout runs tools/setup.mjs instead.

import { cleanPath, ENGINES_DIR, say } from './commands.mjs';
import { findEngines, natsIsReady } from './engines.mjs';
import { underLock } from './lock.mjs';

async function main() {
  if (natsIsReady()) return;
  await underLock(async () => {
    if (natsIsReady()) return;
    const setup = { enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say, redis: false };
    const problem = await findEngines(setup);
    if (problem) throw new Error(problem);
  });
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
