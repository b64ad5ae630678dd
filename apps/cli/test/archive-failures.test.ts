import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { asAdmin } from '@quittance/shared/database-roles';
import { eventually } from '@quittance/testkit/eventually';
import { refusal } from '@quittance/testkit/refusal';
import type pg from 'pg';
import { readAgain } from '../src/archive/month-file.ts';
import { removeMonth } from '../src/archive/pruned-months.ts';
import { archivesAlone, keepBackupsOut } from '../src/archive/removal-lock.ts';
import { beginDump } from '../src/backup/dump-records.ts';
import { archiveSuite, month } from './archive-fixture.ts';

/** `quittance archive write` that is killed, or fails: nothing is lost. */
const { quittance, env, adminUrl, archive, archived, ...more } = await archiveSuite();
const { idsIn, idsWaiting, write, pruned } = more;

describe('a run that is killed', () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const failpoints = new URL('../../../packages/shared/src/failpoint.ts', import.meta.url).href;
  const arming = (point: string) =>
    `data:text/javascript,${encodeURIComponent(`import { armFailpoint } from '${failpoints}'; armFailpoint('${point}');`)}`;

  test.each(['archive.written', 'archive.named', 'archive.removed'])(
    'at %s leaves every event in the database, and the next run ends what it began',
    async (point) => {
      const ids = await pruned('acc_1', 'acc_2');
      const args = [`--import=${arming(point)}`, main, 'archive', 'write', '--to', archive()];
      const child = spawn(process.execPath, args, { env: { ...process.env, ...env() }, stdio: 'ignore' });
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
      expect(signal).toBe('SIGKILL');
      expect(await idsWaiting()).toEqual(ids);

      const { code, out } = await write();
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`${month(5)}  2 `) });
      expect(archived()).toHaveLength(1);
      expect([idsIn(), await idsWaiting()]).toEqual([ids, []]);
    },
  );
});

describe('nothing is removed', () => {
  test('when the disk of the files is full, or there is no folder', async () => {
    const ids = await pruned('acc_1');
    symlinkSync('/dev/full', join(archive(), `events-${month(5)}.unfinished`));
    expect(await write()).toMatchObject(refusal('ENOSPC'));
    const nowhere = await quittance(['archive', 'write', '--to', join(archive(), 'nowhere')]);
    expect(nowhere).toMatchObject(refusal(/cannot be written to .*nowhere/));
    expect([archived(), await idsWaiting()]).toEqual([[], ids]);
  });

  test('when what is read again is not what was written', async () => {
    const written = { lines: 2, sha256: 'a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1' };
    const file = join(archive(), 'file');
    const read = async (bytes: Uint8Array) => {
      writeFileSync(file, bytes);
      await readAgain(file, written);
    };
    const right = gzipSync('1\n2\n');
    await read(right);
    const refusals: unknown[] = [];
    for (const bytes of [gzipSync('1\n'), gzipSync('1\n3\n'), right.subarray(0, -1), Buffer.from('1\n2\n')])
      refusals.push(await read(bytes).catch((error: Error) => error.message));
    expect(refusals).toEqual(
      Array.from({ length: 4 }, () => expect.stringContaining('Nothing of its month')),
    );
  });

  test('when events were added to the month while it was written', async () => {
    const ids = await pruned('acc_1');
    await asAdmin(adminUrl, async (client) => {
      for (const written of [0, 2]) {
        await client.query('begin');
        await expect(removeMonth(client, month(5), written)).rejects.toThrow('Run the command again');
        await client.query('rollback');
      }
    });
    expect(await idsWaiting()).toEqual(ids);
  });

  test('by a second run at the same time, or without saying where to', async () => {
    const ids = await pruned('acc_1');
    await asAdmin(adminUrl, async (other) => {
      expect(await archivesAlone(other)).toBe(true);
      expect(await write()).toMatchObject({
        code: 1,
        err: 'Another `quittance archive write` is running.\n',
      });
    });
    for (const args of [[], ['--to', archive(), '--without-file']])
      expect(await quittance(['archive', 'write', ...args])).toMatchObject(
        refusal('Either --to FOLDER, or --without-file'),
      );
    expect([archived(), await idsWaiting()]).toEqual([[], ids]);
    const deleted = await quittance(['archive', 'write', '--without-file']);
    expect(deleted.out).toContain('deleted without a file');
    expect(await idsWaiting()).toEqual([]);
  });
});

test('a removal waits for the backups that read, and a backup for a removal', async () => {
  const ids = await pruned('acc_1');
  const waiting = (observer: pg.Client) =>
    eventually(async () => {
      const { rows } = await observer.query(
        `select from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      expect(rows).toHaveLength(1);
    });
  const writing = await asAdmin(adminUrl, async (backup) => {
    await beginDump(backup);
    const run = write();
    await waiting(backup);
    expect(await idsWaiting()).toEqual(ids);
    return { run };
  });
  expect(await writing.run).toMatchObject({ code: 0 });
  expect([idsIn(), await idsWaiting()]).toEqual([ids, []]);

  await asAdmin(adminUrl, async (removal) => {
    await removal.query('begin');
    await keepBackupsOut(removal);
    await asAdmin(adminUrl, async (backup) => {
      const beginning = beginDump(backup);
      await waiting(removal);
      await removal.query('commit');
      await beginning;
    });
  });
});
