import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  it('replaces files that nothing has written for more than a day', () => {
    const old = join(folder, 'old.tar');
    writeStored(old, content);
    utimesSync(old, new Date(0), new Date(0));
    writeStored(join(folder, 'new.tar'), content);
    expect(readdirSync(folder)).not.toContain('old.tar');
    expect(readdirSync(folder)).toContain('whole.tar');
  });
});
