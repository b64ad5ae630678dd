import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { type PostgresHandle, startPostgres } from '../src/postgres.ts';
import { type StandbyHandle, startStandby } from '../src/postgres-standby.ts';
import { query, scratchFolder } from './scratch.ts';

const scratch = scratchFolder();
let primary: PostgresHandle | undefined;
let standby: StandbyHandle | undefined;
afterAll(async () => {
  await Promise.all([primary?.destroy(), standby?.destroy()]);
  scratch.remove();
});

test('a standby has what its primary committed, takes no writes, and takes them when it was promoted', async () => {
  const settings = { fsync: 'off' };
  primary = await startPostgres({
    dataDir: path.join(scratch.folder, 'primary'),
    port: 0,
    settings: { ...settings, synchronous_standby_names: 'second' },
  });
  standby = await startStandby(primary, {
    dataDir: path.join(scratch.folder, 'standby'),
    upstream: primary.url,
    name: 'second',
    settings,
  });
  await query(primary.url, 'create table notes (text text)');
  await query(primary.url, `insert into notes values ('committed')`);
  await expect(query(standby.url, `insert into notes values ('refused')`)).rejects.toThrow('read-only');
  primary.kill();
  await standby.promote();
  await query(standby.url, `insert into notes values ('promoted')`);
  expect(await query(standby.url, 'select text from notes order by text')).toEqual([
    { text: 'committed' },
    { text: 'promoted' },
  ]);
});
