import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { startPostgres } from '../src/postgres.ts';
import { failureOf, query, scratchFolder } from './scratch.ts';

const scratch = scratchFolder();
const folder = path.join(scratch.folder, 'templates');
afterAll(() => scratch.remove());

let filled = 0;
async function fill(url: string): Promise<void> {
  filled += 1;
  await query(url, `create table notes as select 'of template ${filled}' as text`);
}

let clusters = 0;
const startCopy = (key: string, work = fill, templates = folder) =>
  startPostgres({
    dataDir: path.join(scratch.folder, `cluster-${++clusters}`),
    port: 0,
    settings: { fsync: 'off' },
    template: { folder: templates, key, fill: work },
  });

const NOTES = 'select text from notes';

test('clusters that start at once are copies of one template, each with its own data, in a folder of this user alone', async () => {
  const [one, other] = await Promise.all([startCopy('first'), startCopy('first')]);
  const later = await startCopy('first');
  try {
    // Two that find none both make one, and one of these is kept.
    expect(filled).toBeLessThanOrEqual(2);
    const [kept] = readdirSync(folder);
    expect(readdirSync(folder)).toEqual([kept]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(later.dataDir).mode & 0o777).toBe(0o700);
    await query(one.url, `insert into notes values ('of the first')`);
    expect(await query(one.url, NOTES)).toHaveLength(2);
    const seen = await Promise.all([query(other.url, NOTES), query(later.url, NOTES)]);
    expect(seen).toEqual([[{ text: expect.any(String) }], [{ text: expect.any(String) }]]);
    const before = filled;
    await one.restart();
    expect([filled, await query(one.url, NOTES)]).toEqual([before, expect.any(Array)]);
  } finally {
    await Promise.all([one, other, later].map((cluster) => cluster.destroy()));
  }
});

test('another key makes another template, and one that nobody has used for a day goes', async () => {
  const [former = ''] = readdirSync(folder);
  const longAgo = new Date(Date.now() - 25 * 60 * 60_000);
  utimesSync(path.join(folder, former), longAgo, longAgo);
  const before = filled;
  const cluster = await startCopy('second');
  try {
    expect(filled).toBe(before + 1);
    expect(await query(cluster.url, NOTES)).toEqual([{ text: `of template ${filled}` }]);
    expect(readdirSync(folder)).toEqual([expect.not.stringMatching(former)]);
  } finally {
    await cluster.destroy();
  }
});

test('what a template is filled with may fail: the start says why, and nothing is kept', async () => {
  const before = readdirSync(folder);
  const broken = startCopy('third', (url) => query(url, 'select no_such_column').then(() => undefined));
  expect(await failureOf(broken)).toContain('no_such_column');
  expect(readdirSync(folder)).toEqual(before);
  const whole = await startCopy('third');
  await whole.destroy();
});

test('a template of which a file is missing, or that was made before the machine was started, is made again', async () => {
  const others = readdirSync(folder);
  const first = await startCopy('fourth');
  await first.destroy();
  const name = readdirSync(folder).find((one) => !others.includes(one)) ?? '';
  const version = path.join(folder, name, 'cluster', 'PG_VERSION');
  const beforeTheStart = new Date(Date.now() - 100 * 365 * 24 * 60 * 60_000);
  for (const spoil of [() => rmSync(version), () => utimesSync(version, beforeTheStart, beforeTheStart)]) {
    spoil();
    const before = filled;
    const cluster = await startCopy('fourth');
    expect(filled).toBe(before + 1);
    expect(readdirSync(folder).sort()).toEqual([...others, name].sort());
    await cluster.destroy();
  }
});

test('a cluster is made without a template where none can be kept', async () => {
  const file = path.join(scratch.folder, 'no-folder');
  writeFileSync(file, '');
  const before = filled;
  const cluster = await startCopy('first', fill, file);
  try {
    expect(filled).toBe(before);
    expect(await query(cluster.url, "select to_regclass('notes') as notes")).toEqual([{ notes: null }]);
  } finally {
    await cluster.destroy();
  }
});
