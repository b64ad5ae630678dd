import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { CHECKOUT, readJson, run, SetupError, say, writeJson } from './commands.mjs';
import { NODE_24, packagesHash } from './packages.mjs';

const DASHBOARD = path.join(CHECKOUT, 'apps', 'dashboard');
const STAMP_FILE = path.join(DASHBOARD, 'dist', '.built.json');

/** What the built files are made of. An image has no sources of them, and nothing to build. */
const SOURCES = [
  'apps/dashboard/src',
  'apps/dashboard/index.html',
  'apps/dashboard/vite.config.ts',
  'packages/client/src',
];

export function dashboardIsReady() {
  return readJson(STAMP_FILE)?.sources === sourcesHash();
}

/** Takes two seconds. The gateway serves what comes out. */
export async function buildDashboard() {
  say('building the dashboard …');
  const hash = sourcesHash();
  const vite = path.join(DASHBOARD, 'node_modules', 'vite', 'bin', 'vite.js');
  const { code, output } = await run(NODE_24, [vite, 'build', '--logLevel', 'warn'], { cwd: DASHBOARD });
  if (code !== 0) throw new SetupError(`The dashboard could not be built:\n\n${output.trim()}`);
  writeJson(STAMP_FILE, { sources: hash });
}

function sourcesHash() {
  const hash = createHash('sha256').update(packagesHash());
  for (const source of SOURCES) addTo(hash, source);
  return hash.digest('hex');
}

function addTo(hash, name) {
  const file = path.join(CHECKOUT, name);
  if (fs.statSync(file).isDirectory()) {
    for (const inner of fs.readdirSync(file).sort()) addTo(hash, `${name}/${inner}`);
  } else if (!/\.test\.tsx?$/.test(name)) {
    hash.update(`\0${name}\0`).update(fs.readFileSync(file));
  }
}
