// Finds or fetches Helm for the test of the chart, and prints its path.

import { findHelm } from './helm.mjs';
import { underLock } from './lock.mjs';

async function main() {
  await underLock(async () => {
    process.stdout.write(`${await findHelm()}\n`);
  });
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
