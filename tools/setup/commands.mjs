import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const CHECKOUT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
export const ENGINES_DIR = path.join(CHECKOUT, '.engines');
export const LOG_FILE = path.join(ENGINES_DIR, 'setup.log');

const STILL_AT_IT_MS = 30_000;
const COMMAND_TIMEOUT_MS = 180_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** What the person at the terminal has to know: what went wrong, and what to do about it. */
export class SetupError extends Error {}

/** Runs a short command and returns its exit code and everything it said. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const all = { cwd: CHECKOUT, timeout: COMMAND_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX, ...options };
    execFile(command, args, all, (error, stdout, stderr) => {
      resolve({
        code: error ? (error.code ?? 1) : 0,
        output: `${stdout}${stderr}${error && !stderr ? error.message : ''}`,
      });
    });
  });
}

/** Runs a long command with its output in the log file, and says now and then that it is still at it. */
export function runLogged(command, args, env) {
  const log = fs.openSync(LOG_FILE, 'w');
  const started = Date.now();
  const reminder = setInterval(() => {
    say(
      `still installing, ${Math.round((Date.now() - started) / 1000)} s; details in ${path.relative(process.cwd(), LOG_FILE)}`,
    );
  }, STILL_AT_IT_MS);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: CHECKOUT, env, stdio: ['ignore', log, log], detached: true });
    const stopping = stopWithUs(child);
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code: code ?? 1, interrupted: stopping.interrupted }));
  }).finally(() => {
    clearInterval(reminder);
    fs.closeSync(log);
  });
}

/** npx and pnpm are several processes, so they are a group of their own, and the signal goes to all of it. */
function stopWithUs(child) {
  const stopping = { interrupted: false };
  const forward = (signal) => {
    stopping.interrupted = true;
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error; // it has just ended by itself
    }
  };
  process.on('SIGTERM', forward).on('SIGINT', forward);
  child.once('exit', () => process.off('SIGTERM', forward).off('SIGINT', forward));
  return stopping;
}

export function logTail() {
  return fs.readFileSync(LOG_FILE, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}

/** Progress goes to stderr: stdout belongs to the command that runs after the set-up. */
export function say(message) {
  process.stderr.write(`set-up: ${message}\n`);
}

export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function writeJson(file, value) {
  const scratch = `${file}.${process.pid}`;
  fs.writeFileSync(scratch, `${JSON.stringify(value, null, 2)}\n`);
  fs.renameSync(scratch, file);
}

/** PATH without any node_modules/.bin: what is about to be replaced must not be what does the replacing. */
export function cleanPath() {
  const entries = (process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(path.delimiter);
  return entries.filter((entry) => entry && !/node_modules\/\.bin\/?$/.test(entry)).join(path.delimiter);
}

/** The files of these names in the folders of a PATH. */
export function onPath(names, searchPath) {
  const folders = searchPath.split(path.delimiter);
  return names
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .filter((file) => fs.existsSync(file));
}
