import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';

/** What testers of a shop are given: an example that runs, and a guide that shows that very example. */

const root = join(import.meta.dirname, '../..');
const example = 'examples/shop/shop.test.ts';
/** The images may have to be built first. */
const WITHIN_MS = 25 * 60_000;
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

// On processes of the machine packed.test.ts runs it, where the packages are installed.
if (process.env['QUITTANCE_ENGINES'] === 'containers')
  test(
    'the example of a shop’s own tests is green on containers, run as a tester runs it',
    async () => {
      const given = [...textOf(example).matchAll(/^ *test\(/gm)];
      const env = { ...process.env, NODE_OPTIONS: undefined, NODE_PATH: undefined };
      const child = spawn(process.execPath, ['--test', '--test-reporter=tap', example], { cwd: root, env });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => (said += String(chunk)));
      const code = await new Promise((resolve) => child.once('close', resolve));
      const count = (what: string) => new RegExp(`^# ${what} (\\d+)$`, 'm').exec(said)?.[1];
      // One of them is run for two assets.
      const wanted = { passed: String(given.length + 1), failed: '0', code: 0 };
      const seen = { passed: count('pass'), failed: count('fail'), code };
      // What it said is what the reader of a failed test needs to see.
      expect({ ...seen, said: code === 0 ? '' : said }).toEqual({ ...wanted, said: '' });
    },
    patient(WITHIN_MS),
  );

test('the testkit’s guide shows that example as it is', () => {
  const blocks = [...textOf('docs/testkit.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)];
  expect(blocks.map(([, code]) => code)).toContain(textOf(example));
});
