// Finds or fetches Prometheus for the tests of its alerts, and prints the folder of its programs.

import { cleanPath, ENGINES_DIR, say } from './commands.mjs';
import { underLock } from './lock.mjs';
import { findPrometheus } from './prometheus.mjs';

async function main() {
  await underLock(async () => {
    process.stdout.write(
      `${await findPrometheus({ enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say })}\n`,
    );
  });
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
