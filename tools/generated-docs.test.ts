import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generatedFiles, regenerate, wholeFiles } from './generate-docs.ts';

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8');

test.each(generatedFiles)('%s is what `node tools/generate-docs.ts` writes', (file) => {
  expect(regenerate(read(file))).toBe(read(file));
});

test.each(Object.keys(wholeFiles))('%s is wholly what `node tools/generate-docs.ts` writes', async (file) => {
  expect(await wholeFiles[file]?.()).toBe(read(file));
});

test('the tables have every setting of every service and every command', () => {
  const settings = read('docs/configure.md');
  for (const name of [
    'PORT',
    'METRICS_PORT',
    'SCAN_EVERY_MS',
    'WALLET_KEYSTORE',
    'WALLET_SEED',
    'PRICES',
    'WEBHOOK_SECRETS_KEY',
  ])
    expect(settings).toContain(`\n| \`${name}\` | `);
  for (const prefix of ['BITCOIN', 'ETHEREUM', 'BASE', 'POLYGON', 'SOLANA'])
    expect(settings).toContain(`\`${prefix}_…\``);
  expect(read('docs/command-line.md').match(/^#{2,3} `quittance /gm)?.length).toBeGreaterThan(20);
});

test('a generated part that differs is replaced, and an unknown one is refused', () => {
  const part = (name: string) => `<!-- generated: ${name} -->\nold\n<!-- end of generated -->`;
  expect(regenerate(`before ${part('settings of ledger')} after`)).toMatch(
    /^before <!-- .* -->\n\n\| setting .*\n[\s\S]*`PRICES`[\s\S]*\n<!-- end of generated --> after$/,
  );
  expect(() => regenerate(part('settings of nobody'))).toThrow('there is no generated part');
});
