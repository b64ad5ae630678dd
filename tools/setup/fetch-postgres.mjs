// Finds or fetches the older Postgres that is named, and prints its folder.

import fs from 'node:fs';
import { ENGINES_DIR } from './commands.mjs';
import { takeLock } from './lock.mjs';
import { findPostgres } from './postgres.mjs';

async function main() {
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const lock = await takeLock();
  try {
    process.stdout.write(`${await findPostgres(process.argv[2] ?? '')}\n`);
  } finally {
    lock.release();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
