// Finds or fetches OpenStack Swift for the tests of backups in a store, and prints the program that runs it.

import { underLock } from './lock.mjs';
import { findSwift } from './swift.mjs';

async function main() {
  await underLock(async () => {
    process.stdout.write(`${await findSwift()}\n`);
  });
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
