import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { patient } from '@quittance/testkit/patience';
import pg from 'pg';

/** A folder for one test, which other users may enter (Postgres, when the test runs as root); `remove` takes it away. */
export function scratchFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-engines-'));
  chmodSync(folder, 0o755);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The rows that a Postgres answers, on a connection of their own. */
export async function query(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** Whether the process runs; a zombie process whose exit status nobody has read yet does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
  return !spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.startsWith('Z');
}

/** Waits for a condition, with a limit. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = Date.now() + patient(withinMs);
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not true within ${withinMs} ms: ${condition}`);
    await sleep(20);
  }
}

/** What a start that has to fail says. One that does not fail is stopped, so that it does not outlive the test. */
export async function failureOf(starting: Promise<{ stop(): Promise<void> }>): Promise<string> {
  const outcome = await starting.then(
    (engine) => ({ engine }),
    (error: Error) => ({ error }),
  );
  if ('error' in outcome) return outcome.error.message;
  await outcome.engine.stop();
  throw new Error('it started');
}

// biome-ignore lint/suspicious/noExplicitAny: JSON-RPC results have as many shapes as methods.
export async function rpc(node: { rpcUrl: string }, method: string, ...params: unknown[]): Promise<any> {
  const response = await fetch(node.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
