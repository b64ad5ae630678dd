// Finds or fetches Prometheus for the tests of its alerts, and prints the folder of its programs.

import fs from 'node:fs';
import { cleanPath, ENGINES_DIR, say } from './commands.mjs';
import { takeLock } from './lock.mjs';
import { findPrometheus } from './prometheus.mjs';

async function main() {
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const lock = await takeLock();
  try {
    process.stdout.write(
      `${await findPrometheus({ enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say })}\n`,
    );
  } finally {
    lock.release();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
