import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { EngineMissing, installed } from '../src/installed.ts';
import { scratchFolder } from './scratch.ts';

const scratch = scratchFolder();

afterAll(() => scratch.remove());

/** A folder as the set-up leaves it, with this record and these files. */
function enginesDir(name: string, record: object, files: string[] = []): string {
  const folder = path.join(scratch.folder, name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'engines.json'), JSON.stringify(record));
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), '');
  }
  return folder;
}

test('an engine is found where the record says, with its libraries', () => {
  const record = {
    redisServer: { path: 'redis/usr/bin/redis-server', libraries: ['redis/usr/lib', 'redis/lib'] },
  };
  const folder = enginesDir('found', record, ['redis/usr/bin/redis-server']);
  expect(installed('redisServer', folder)).toEqual({
    file: path.join(folder, 'redis/usr/bin/redis-server'),
    env: { LD_LIBRARY_PATH: `${folder}/redis/usr/lib:${folder}/redis/lib` },
  });
});

test.each([
  ['no set-up has run', () => path.join(scratch.folder, 'nowhere'), 'run `node tools/setup.mjs`'],
  [
    'the set-up found none',
    () => enginesDir('none', { redisServer: { problem: 'no Redis here' } }),
    'no Redis here',
  ],
  [
    'it is gone',
    () => enginesDir('gone', { redisServer: { path: '/gone/redis' } }),
    '/gone/redis is gone: run',
  ],
])('when %s, the error says what to do', (_, folderOf, expected) => {
  const folder = folderOf();
  const look = () => installed('redisServer', folder);
  expect(look).toThrow(EngineMissing);
  expect(look).toThrow(expected);
});
