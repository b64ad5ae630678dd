import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { PostgresHandle } from '../src/postgres.ts';
import { startPostgres } from '../src/postgres.ts';
import { failureOf, query as queryOf, runs, scratchFolder } from './scratch.ts';

const scratch = scratchFolder();
const dataDir = path.join(scratch.folder, 'postgres');
let postgres: PostgresHandle;

beforeAll(async () => {
  postgres = await startPostgres({ dataDir, port: 0 });
  await query('create table notes (text text)');
});

afterAll(async () => {
  await postgres.destroy();
  scratch.remove();
});

const query = (sql: string, values?: unknown[]) => queryOf(postgres.url, sql, values);

test('it is the Postgres that was asked for, durable, on the loopback, and keeps its data for its user alone', async () => {
  const [answer] = await query(
    `select (current_setting('server_version_num')::int / 10000)::text as major, current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as addresses`,
  );
  const major = process.env['POSTGRES'] ?? '18';
  expect(answer).toEqual({ major, fsync: 'on', commit: 'on', addresses: '127.0.0.1' });
  expect(statSync(postgres.dataDir).mode & 0o777).toBe(0o700);
  const wrongPassword = new pg.Client({ connectionString: postgres.url.replace(/:[^:@]+@/, ':wrong@') });
  await expect(wrongPassword.connect()).rejects.toThrow('password authentication failed');
});

test('an orderly restart and a kill both keep what was committed, port and password', async () => {
  const { url } = postgres;
  await query('insert into notes values ($1)', ['before the restart']);
  await postgres.restart();
  await query('insert into notes values ($1)', ['before the kill']);
  postgres.kill();
  await postgres.restart();
  expect(await query('select text from notes order by 1')).toEqual([
    { text: 'before the kill' },
    { text: 'before the restart' },
  ]);
  expect(postgres.url).toBe(url);
});

test('a pid file whose number another process has now does not stop it', async () => {
  const pidFile = path.join(postgres.dataDir, 'postmaster.pid');
  const left = readFileSync(pidFile, 'utf8');
  postgres.kill();
  await postgres.stop();
  // Of the same user: Postgres itself does not mind another one's.
  const { uid, gid } = statSync(postgres.dataDir);
  const other = spawn('sleep', ['60'], { uid, gid, cwd: '/' });
  try {
    writeFileSync(pidFile, left.replace(/^\d+/, String(other.pid)));
    await postgres.restart();
    expect(await query('select 1 as one')).toEqual([{ one: 1 }]);
  } finally {
    other.kill();
  }
});

test('a second Postgres on the same data is refused, and the first one is left alone', async () => {
  const { pid } = postgres;
  expect(await failureOf(startPostgres({ dataDir, port: 0 }))).toContain(`in use by process ${pid}`);
  expect(pid !== undefined && runs(pid)).toBe(true);
});

test('a folder that is not a cluster is neither used nor removed', async () => {
  const notes = path.join(scratch.folder, 'notes.txt');
  writeFileSync(notes, 'mine');
  expect(await failureOf(startPostgres({ dataDir: scratch.folder, port: 0 }))).toContain('neither empty nor');
  expect(await failureOf(startPostgres({ dataDir: scratch.folder, port: 0, fresh: true }))).toContain(
    'left alone',
  );
  expect(readFileSync(notes, 'utf8')).toBe('mine');
});

test('a failed start says what Postgres said', async () => {
  await postgres.stop();
  const started = startPostgres({ dataDir, port: 0, settings: { no_such_setting: 1 } });
  expect(await failureOf(started)).toMatch(/Postgres ended while it was starting[\s\S]*no_such_setting/);
});

test('fresh begins with an empty cluster', async () => {
  postgres = await startPostgres({ dataDir, port: 0, fresh: true, settings: { fsync: 'off' } });
  expect(await query("select to_regclass('notes') as notes, current_setting('fsync') as fsync")).toEqual([
    { notes: null, fsync: 'off' },
  ]);
});
