import { expect, test } from '@jest/globals';
import { Linter } from 'eslint';
import { restrictions } from './eslint-restrictions.ts';

const operation = 'services/ledger/src/operations/place-hold.ts';
const domain = 'services/ledger/src/domain/hold.ts';
/** Looks like a comment to what does not know where a template ends. */
const interpolated = '`a$' + '{b}://TODO`';
const aTest = 'services/ledger/src/domain/hold.test.ts';

const rulesBroken = (path: string, text: string) =>
  new Linter({ configType: 'flat' }).verify(`${text}\n`, restrictions, path).map(({ ruleId }) => ruleId);

test.each([
  ['no-restricted-syntax', operation, 'const a = Number(amount);'],
  ['no-restricted-syntax', operation, 'const a = amounts.map(Number);'],
  ['no-restricted-syntax', operation, 'const a = parseFloat(amount);'],
  ['no-restricted-syntax', operation, 'const a = Number.parseFloat(amount);'],
  ['no-restricted-syntax', operation, 'const a = parseInt(amount, 10);'],
  ['no-restricted-syntax', operation, 'const a = +amount * 2;'],
  ['no-restricted-syntax', operation, "const a = +'5';"],
  ['no-restricted-syntax', operation, 'const read = Number;'],
  ['no-restricted-syntax', operation, 'const a = amounts.map(parseInt);'],
  ['no-restricted-syntax', domain, 'const read = Date.now;'],
  ['no-restricted-syntax', 'services/ledger/src/main.ts', 'let waiting = 0;'],
  ['no-restricted-syntax', aTest, "it.concurrent.skip('a', () => expect(1).toBe(1));"],
  ['no-restricted-syntax', aTest, "it.each([1]).only('a', () => expect(1).toBe(1));"],
  ['no-restricted-syntax', aTest, 'const a = Number(amount);'],
  ['no-restricted-imports', operation, "import { Decimal } from 'decimal.js';"],
  ['no-restricted-syntax', operation, "const { Decimal } = await import('decimal.js');"],
  ['no-restricted-syntax', domain, 'const now = Date.now();'],
  ['no-restricted-syntax', domain, 'const now = new Date();'],
  ['no-restricted-syntax', domain, 'const now = new Date;'],
  ['no-restricted-syntax', domain, 'const now = Date();'],
  ['no-restricted-syntax', domain, 'const luck = Math.random();'],
  ['no-restricted-syntax', domain, 'const now = performance.now();'],
  ['no-restricted-syntax', domain, 'const id = crypto.randomUUID();'],
  ['no-restricted-syntax', domain, 'setTimeout(done, 5);'],
  ['no-restricted-syntax', operation, 'drawIdsFrom({ clock, random });'],
  ['no-restricted-syntax', operation, "const url = process.env['URL'];"],
  ['no-restricted-syntax', operation, 'const { env } = process;'],
  ['no-restricted-syntax', 'services/ledger/src/config.ts', 'load(process.env);'],
  ['no-restricted-syntax', operation, 'let waiting = 0;'],
  ['no-restricted-syntax', operation, 'const seen = new Map<string, number>();'],
  ['no-warning-comments', operation, '// TODO: the other case'],
  ['no-warning-comments', operation, '/** Holds. FIXME later. */ const a = 1;'],
  ['no-warning-comments', operation, 'call(a /* XXX */);'],
  ['no-warning-comments', operation, `const a = ${interpolated}; // TODO`],
  ['no-restricted-syntax', aTest, "it.only('a', () => expect(1).toBe(1));"],
  ['no-restricted-syntax', aTest, "test.only('a', () => expect(1).toBe(1));"],
  ['no-restricted-syntax', aTest, "describe.only('a', () => {});"],
  ['no-restricted-syntax', aTest, "describe.skip('a', () => {});"],
  ['no-restricted-syntax', aTest, "it.skip.each([1])('a', () => expect(1).toBe(1));"],
  ['no-restricted-syntax', aTest, 'const maybe = hasDocker ? describe : describe.skip;'],
  ['no-restricted-syntax', aTest, "it.todo('a');"],
  ['no-restricted-syntax', aTest, "xit('a', () => expect(1).toBe(1));"],
  ['max-lines', operation, 'call();\n'.repeat(301)],
  ['max-lines', aTest, 'call();\n'.repeat(301)],
])('%s is broken in %s: %j', (rule, path, text) => {
  expect(rulesBroken(path, text)).toContain(rule);
});

test.each([
  ['packages/shared/src/money.ts', "import { Decimal } from 'decimal.js';\nconst a = Number(text);"],
  [operation, 'const whole = Number.isSafeInteger(a) && a < Number.MAX_SAFE_INTEGER;'],
  [operation, 'const sum = a + b; const one = +1;'],
  [aTest, 'test("x", () => expect(a).toEqual(expect.any(Number)));'],
  [operation, "const text = 'Number(x), console.log, TODO'; // never Number(x) or console.log here"],
  [operation, 'const started = Date.now();'],
  [operation, `const { id } = process; const text = ${interpolated};`],
  [operation, 'const known = new Set(kinds); function count() { let n = 0; return n; }'],
  ['packages/shared/src/ids.ts', 'let pool = 0;'],
  [domain, 'const due = new Date(now.getTime() + 60_000);'],
  [domain, 'export const clock = { process: 1 }; // the clock of Date.now() is an argument'],
  [aTest, 'const now = Date.now();'],
  ['services/ledger/src/main.ts', 'start(process.env);'],
  ['services/gateway/src/main.ts', 'start(process.env);'],
  ['apps/sandbox/src/stack.ts', 'start({ ...process.env });'],
  ['services/ledger/test/hold.test.ts', "const url = process.env['DATABASE_URL'];"],
  [operation, 'const port = Number(text); // eslint-disable-line no-restricted-syntax -- a port'],
  ['test/simulation/scenario.ts', 'drawIdsFrom({ clock, random });'],
])('no rule is broken in %s: %j', (path, text) => {
  expect(rulesBroken(path, text)).toEqual([]);
});
