#!/usr/bin/env node
// The command itself is TypeScript and needs Node 24. This file needs none: whatever Node it was started with,
// it goes on in the project's own.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_WANTED = 24;
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const node24 = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_WANTED) {
  await import(main);
} else if (existsSync(node24)) {
  const { status, signal, error } = spawnSync(node24, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (error) throw error;
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
} else {
  process.stderr.write(
    `quittance needs Node ${NODE_MAJOR_WANTED}, this is ${process.versions.node}. ` +
      'Run `node tools/setup.mjs` in the checkout once: it installs that Node beside the packages.\n',
  );
  process.exitCode = 1;
}
