// Finds or fetches the older Postgres that is named, and prints its folder.

import { underLock } from './lock.mjs';
import { findPostgres } from './postgres.mjs';

async function main() {
  await underLock(async () => {
    process.stdout.write(`${await findPostgres(process.argv[2] ?? '')}\n`);
  });
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
