// Finds or fetches Helm for the test of the chart, and prints its path.

import fs from 'node:fs';
import { ENGINES_DIR } from './commands.mjs';
import { findHelm } from './helm.mjs';
import { takeLock } from './lock.mjs';

async function main() {
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const lock = await takeLock();
  try {
    process.stdout.write(`${await findHelm()}\n`);
  } finally {
    lock.release();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
