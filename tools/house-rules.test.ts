import { expect, it } from '@jest/globals';
import { violations } from './house-rules.ts';
import { textOf, trackedFiles } from './tracked-files.ts';

const operation = 'services/ledger/src/operations/place-hold.ts';
const aTest = 'services/ledger/src/domain/hold.test.ts';

it('every source file is tidy', () => {
  const files = trackedFiles().filter(
    (path) => path.endsWith('.ts') && !path.startsWith('tools/dependency-fixtures/'),
  );
  expect(files).toContain('tools/house-rules.test.ts');
  const found = files.flatMap((path) =>
    violations(path, textOf(path)).map(({ line, rule, advice }) => `${path}:${line} ${rule}: ${advice}`),
  );
  expect(found).toEqual([]);
});

it.each([
  ['beside', aTest, "const file = new URL('../../.sandbox', import.meta.url);"],
  ['beside', aTest, "const home = join(root, '.sandbox');"],
  ['beside', aTest, "readFileSync(join(root, '.env'));"],
  ['beside', 'apps/cli/src/run.ts', 'const home = CHECKOUT_SANDBOX;'],
  ['beside', 'test/e2e/pay.test.ts', "spawn(node, [file('apps/sandbox/src/pay.ts')], { env });"],
  ['beside', 'test/e2e/pay.test.ts', "spawn(node, [file('apps/cli/src/main.ts')], { env: {} });"],
  ['name', 'packages/shared/src/utils.ts', ''],
  ['name', 'packages/shared/src/helpers/money.ts', ''],
  ['name', 'services/ledger/src/types.ts', ''],
  ['name', 'services/ledger/test/common.test.ts', ''],
  ['name', 'packages/shared/src/misc.ts', ''],
  ['expectation', aTest, "it('a', () => { decide(hold); });"],
  ['expectation', aTest, "it('a', async () => { await step(); });"],
  ['expectation', aTest, "it.each([1, 2])('a', (n) => { decide(n); });"],
  ['expectation', aTest, 'function run() { decide(hold); }\nit("a", run);'],
])('%s is found in %s: %j', (rule, path, text) => {
  const found = violations(path, `${text}\n`);
  expect(found.map((violation) => violation.rule)).toEqual([rule]);
  expect(found[0]?.advice).toMatch(/.{20}/);
});

it.each([
  ['apps/sandbox/src/pay-invoice.ts', 'const home = CHECKOUT_SANDBOX;'],
  [aTest, "const example = readFileSync(join(root, '.env.example'));"],
  ['test/e2e/pay.test.ts', "spawn(node, [file('apps/sandbox/src/pay.ts')], { env: { SANDBOX_DIR: home } });"],
  ['packages/shared/src/common-law.ts', 'export const typesOf = 1;'],
  [aTest, "it('a', () => { expect(decide(hold)).toEqual(1); });"],
  [aTest, "it('a', async () => { await fixture.expectPaid(payout); });"],
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

it('a rule that is disabled without a reason is found', () => {
  const text = (reason: string) => `first();\n\n// eslint-disable-next-line no-console${reason}\nlog();\n`;
  expect(violations(operation, text('')).map(({ line, rule }) => [line, rule])).toEqual([[3, 'reason']]);
  expect(violations(operation, text(' -- a command line'))).toEqual([]);
});
