import { spawnSync } from 'node:child_process';
import { must } from './shell.ts';

const SIGNAL_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 60_000;
/** As with a process that has ended: nobody is left to take a signal. */
const HAS_ENDED = /is not running|is not paused|no such container/i;

/**
 * Tells a container something before this returns, as process.kill does: Docker's API can only be asked and waited for,
 * and what a test does next shall meet a container that has been told.
 */
export function tellContainer(id: string, order: readonly string[]): void {
  const how = { encoding: 'utf8', timeout: SIGNAL_WITHIN_MS } as const;
  const { status, stderr, error } = spawnSync('docker', [...order, id], how);
  if (error !== undefined) throw error;
  if (status !== 0 && !HAS_ENDED.test(stderr))
    throw new Error(`docker ${order.join(' ')} ended with ${status}: ${stderr.trim()}`);
}

/** Ends and deletes all containers whose names begin so, with the volumes that were made for them. */
export async function removeContainers(named: string): Promise<void> {
  const stdout = await docker('ps', '--all', '--quiet', '--filter', `name=^/?${named}`);
  const ids = stdout.split('\n').filter((id) => id !== '');
  if (ids.length > 0) await docker('rm', '--force', '--volumes', ...ids);
}

const docker = (...order: string[]): Promise<string> => must('docker', order, { limitMs: ANSWER_WITHIN_MS });
