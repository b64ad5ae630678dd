import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readStored, writeStored } from './stored-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'quittance-stored-'));
afterAll(() => rmSync(folder, { recursive: true }));
const content = Uint8Array.from({ length: 1_000 }, (_, i) => i % 251);

describe('a stored database', () => {
  it('is read as it was written', () => {
    const file = join(folder, 'whole.tar');
    writeStored(file, content);
    expect(readStored(file)).toEqual(content);
  });

  it('is not read when the file is missing, was cut or was changed, and is then written again', () => {
    const file = join(folder, 'broken.tar');
    expect(readStored(file)).toBeUndefined();
    writeStored(file, content);
    const whole = readFileSync(file);
    for (const broken of [whole.subarray(0, 500), Buffer.alloc(0), whole.with(700, 0)]) {
      writeFileSync(file, broken);
      expect(readStored(file)).toBeUndefined();
    }
    writeStored(file, content);
    expect(readStored(file)).toEqual(content);
  });

  it('is written by several threads at once, and is whole after each', async () => {
    const file = join(folder, 'at-once.tar');
    const program = `
      const { workerData } = require('node:worker_threads');
      import(workerData.module).then(({ writeStored, readStored }) => {
        for (let i = 0; i < 100; i++) {
          writeStored(workerData.file, workerData.content);
          if (readStored(workerData.file) === undefined) throw new Error('it is not whole');
        }
      });`;
    const module = new URL('./stored-database.ts', import.meta.url).href;
    const codes = Array.from({ length: 3 }, async () => {
      const worker = new Worker(program, { eval: true, workerData: { module, file, content } });
      const [code] = await once(worker, 'exit');
      return code as unknown;
    });
    expect(await Promise.all(codes)).toEqual([0, 0, 0]);
  });

  it('replaces files that nothing has written for more than a day', () => {
    const old = join(folder, 'old.tar');
    writeStored(old, content);
    utimesSync(old, new Date(0), new Date(0));
    writeStored(join(folder, 'new.tar'), content);
    expect(readdirSync(folder)).not.toContain('old.tar');
    expect(readdirSync(folder)).toContain('whole.tar');
  });
});
