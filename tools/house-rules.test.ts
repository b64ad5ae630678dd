import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { violations } from './house-rules.ts';
import { root, trackedFiles } from './tracked-files.ts';

const operation = 'services/ledger/src/operations/place-hold.ts';
const domain = 'services/ledger/src/domain/hold.ts';
/** Looks like a comment to what does not know where a template ends. */
const interpolated = '`a$' + '{b}://TODO`';
const aTest = 'services/ledger/src/domain/hold.test.ts';

it('every source file is tidy', () => {
  const files = trackedFiles().filter(
    (path) => path.endsWith('.ts') && !path.startsWith('tools/dependency-fixtures/'),
  );
  expect(files).toContain('tools/house-rules.test.ts');
  const found = files.flatMap((path) =>
    violations(path, readFileSync(join(root, path), 'utf8')).map(
      ({ line, rule, advice }) => `${path}:${line} ${rule}: ${advice}`,
    ),
  );
  expect(found).toEqual([]);
});

it.each([
  ['number', operation, 'const a = Number(amount);'],
  ['number', operation, 'const a = amounts.map(Number);'],
  ['number', operation, 'const a = parseFloat(amount);'],
  ['number', operation, 'const a = Number.parseFloat(amount);'],
  ['number', operation, 'const a = parseInt(amount, 10);'],
  ['number', operation, 'const a = +amount * 2;'],
  ['number', aTest, 'const a = Number(amount);'],
  ['decimal', operation, "import { Decimal } from 'decimal.js';"],
  ['decimal', operation, "const { Decimal } = await import('decimal.js');"],
  ['clock', domain, 'const now = Date.now();'],
  ['clock', domain, 'const now = new Date();'],
  ['clock', domain, 'const now = new Date;'],
  ['clock', domain, 'const now = Date();'],
  ['clock', domain, 'const luck = Math.random();'],
  ['clock', domain, 'const now = performance.now();'],
  ['clock', domain, 'const id = crypto.randomUUID();'],
  ['clock', domain, 'setTimeout(done, 5);'],
  ['guessable', operation, 'drawIdsFrom({ clock, random });'],
  ['env', operation, "const url = process.env['URL'];"],
  ['env', operation, 'const { env } = process;'],
  ['env', 'services/ledger/src/config.ts', 'load(process.env);'],
  ['beside', aTest, "const file = new URL('../../.sandbox', import.meta.url);"],
  ['beside', aTest, "const home = join(root, '.sandbox');"],
  ['beside', aTest, "readFileSync(join(root, '.env'));"],
  ['beside', 'apps/cli/src/run.ts', 'const home = CHECKOUT_SANDBOX;'],
  ['beside', 'test/e2e/pay.test.ts', "spawn(node, [file('apps/sandbox/src/pay.ts')], { env });"],
  ['beside', 'test/e2e/pay.test.ts', "spawn(node, [file('apps/cli/src/main.ts')], { env: {} });"],
  ['state', operation, 'let waiting = 0;'],
  ['state', operation, 'const seen = new Map<string, number>();'],
  ['console', operation, 'console.log(hold);'],
  ['console', aTest, 'console.error(hold);'],
  ['unfinished', operation, '// TODO: the other case'],
  ['unfinished', operation, '/** Holds. FIXME later. */ const a = 1;'],
  ['unfinished', operation, 'call(a /* XXX */);'],
  ['unfinished', operation, `const a = ${interpolated}; // TODO`],
  ['name', 'packages/shared/src/utils.ts', ''],
  ['name', 'packages/shared/src/helpers/money.ts', ''],
  ['name', 'services/ledger/src/types.ts', ''],
  ['name', 'services/ledger/test/common.test.ts', ''],
  ['name', 'packages/shared/src/misc.ts', ''],
  ['focus', aTest, "it.only('a', () => expect(1).toBe(1));"],
  ['focus', aTest, "test.only('a', () => expect(1).toBe(1));"],
  ['focus', aTest, "describe.only('a', () => {});"],
  ['focus', aTest, "describe.skip('a', () => {});"],
  ['focus', aTest, "it.skip.each([1])('a', () => expect(1).toBe(1));"],
  ['focus', aTest, 'const maybe = hasDocker ? describe : describe.skip;'],
  ['focus', aTest, "it.todo('a');"],
  ['focus', aTest, "xit('a', () => expect(1).toBe(1));"],
  ['default', operation, 'export default function placeHold() {}'],
  ['default', operation, 'export default placeHold;'],
  ['default', operation, 'export { placeHold as default };'],
  ['expectation', aTest, "it('a', () => { decide(hold); });"],
  ['expectation', aTest, "it('a', async () => { await step(); });"],
  ['expectation', aTest, "it.each([1, 2])('a', (n) => { decide(n); });"],
  ['expectation', aTest, 'function run() { decide(hold); }\nit("a", run);'],
  ['allowance', operation, '// tidy-allow number: a port\nconst port = 1;'],
  ['allowance', operation, '// tidy-allow console: just this once\nlogger.info(1);'],
])('%s is found in %s: %j', (rule, path, text) => {
  const found = violations(path, `${text}\n`);
  expect(found.map((violation) => violation.rule)).toEqual([rule]);
  expect(found[0]?.advice).toMatch(/.{20}/);
});

it.each([
  ['packages/shared/src/money.ts', "import { Decimal } from 'decimal.js';\nconst a = Number(text);"],
  [operation, 'const whole = Number.isSafeInteger(a) && a < Number.MAX_SAFE_INTEGER;'],
  [operation, 'const sum = a + b; const one = +1;'],
  [aTest, 'test("x", () => expect(a).toEqual(expect.any(Number)));'],
  [operation, 'const port = Number(text); // tidy-allow number: a port'],
  [operation, '// tidy-allow number: a port\nconst port = Number(text);'],
  [operation, "const text = 'Number(x), console.log, TODO'; // never Number(x) or console.log here"],
  [operation, 'const started = Date.now();'],
  [operation, `const { id } = process; const text = ${interpolated};`],
  [operation, 'const known = new Set(kinds); function count() { let n = 0; return n; }'],
  ['packages/shared/src/ids.ts', 'let pool = 0;'],
  [domain, 'const due = new Date(now.getTime() + 60_000);'],
  [domain, 'export const clock = { process: 1 }; // the clock of Date.now() is an argument'],
  [aTest, 'const now = Date.now();'],
  ['services/ledger/src/main.ts', 'start(process.env);'],
  ['apps/cli/src/main.ts', 'start(process.env);'],
  ['apps/sandbox/src/stack.ts', 'start({ ...process.env });'],
  ['apps/sandbox/src/pay.ts', 'const home = CHECKOUT_SANDBOX;'],
  [aTest, "const example = readFileSync(join(root, '.env.example'));"],
  ['test/e2e/pay.test.ts', "spawn(node, [file('apps/sandbox/src/pay.ts')], { env: { SANDBOX_DIR: home } });"],
  ['services/ledger/test/hold.test.ts', "const url = process.env['DATABASE_URL'];"],
  ['tools/closing-line.ts', 'export default class ClosingLine {}'],
  ['testing/testkit/src/global-setup.ts', 'export default async function setup() {}'],
  ['packages/shared/src/common-law.ts', 'export const typesOf = 1;'],
  [aTest, "it('a', () => { expect(decide(hold)).toEqual(1); });"],
  [aTest, "it.each([1])('a', async (n) => { await expect(decide(n)).rejects.toThrow(); });"],
  [aTest, "it('a', () => { fc.assert(fc.property(fc.nat(), (n) => decide(n) >= n)); });"],
  [
    aTest,
    "const check = (n) => expect(n).toBe(1);\nfunction twice(n) { check(n); }\nit('a', () => twice(1));",
  ],
  [aTest, "function check() { expect(1).toBe(1); }\nit('a', check);"],
  [aTest, "if (/a/.test(text)) it('b', () => expectBalance('1'));"],
])('nothing is found in %s: %j', (path, text) => {
  expect(violations(path, `${text}\n`)).toEqual([]);
});

it('a reason is asked for, and the line is named', () => {
  const text = 'first();\n\nconst port = Number(text); // tidy-allow number\n';
  expect(violations(operation, text).map(({ line, rule }) => [line, rule])).toEqual([
    [3, 'number'],
    [3, 'allowance'],
  ]);
});
