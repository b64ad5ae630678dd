import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ENGINES_DIR, readJson, say } from './commands.mjs';

const LOCK_FILE = path.join(ENGINES_DIR, 'setup.lock');
const LOCK_HEARTBEAT_MS = 2_000;
const LOCK_STALE_MS = 20_000;
const LOCK_POLL_MS = 200;

/**
 * Does something of a set-up, of which only one works in a checkout at a time.
 * @template T
 * @param {() => Promise<T>} work
 */
export async function underLock(work) {
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const { release } = await takeLock();
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * The holder touches its lock file every two seconds; the lock of a process that is gone, or that has been silent for twenty
 * seconds (another machine's, another container's), is taken over.
 */
async function takeLock() {
  let told = false;
  while (!createLock()) {
    const holder = readLock();
    if (holder && isStale(holder)) removeStaleLock();
    else if (holder && !told) {
      told = true;
      say(`another set-up is at work in this checkout (process ${holder.pid}), waiting for it …`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  const heartbeat = setInterval(touchLock, LOCK_HEARTBEAT_MS);
  const release = () => {
    clearInterval(heartbeat);
    if (isOurs(readLock())) fs.rmSync(LOCK_FILE, { force: true });
  };
  return { release };
}

/** After a long sleep of the machine the lock may have been taken over: then it is not ours to touch. */
function touchLock() {
  if (isOurs(readLock())) fs.utimesSync(LOCK_FILE, new Date(), new Date());
}

function isOurs(holder) {
  return holder?.pid === process.pid && holder.host === os.hostname();
}

function createLock() {
  try {
    fs.writeFileSync(LOCK_FILE, JSON.stringify({ pid: process.pid, host: os.hostname() }), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readLock() {
  try {
    const silentMs = Date.now() - fs.statSync(LOCK_FILE).mtimeMs;
    const holder = readJson(LOCK_FILE);
    return { pid: holder?.pid, host: holder?.host, silentMs };
  } catch (error) {
    if (error.code === 'ENOENT') return undefined; // released between the two looks
    throw error;
  }
}

function isStale(holder) {
  if (holder.silentMs > LOCK_STALE_MS) return true;
  return holder.host === os.hostname() && holder.pid !== undefined && !isAlive(holder.pid);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** Two waiters must not both remove the lock: the second one's removal would hit the first one's new lock. */
function removeStaleLock() {
  const claim = `${LOCK_FILE}.takeover`;
  try {
    fs.writeFileSync(claim, '', { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const claimAge = Date.now() - (fs.statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (claimAge > LOCK_STALE_MS) fs.rmSync(claim, { force: true });
    return;
  }
  const holder = readLock();
  if (holder && isStale(holder)) fs.rmSync(LOCK_FILE, { force: true });
  fs.rmSync(claim, { force: true });
}
