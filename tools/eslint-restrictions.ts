import type { Linter } from 'eslint';
import tseslint from 'typescript-eslint';

/**
 * The project’s own rules that eslint can express; tools/house-rules.ts has those that it cannot, and biome forbids `console`,
 * default exports, and tests that are skipped or run alone.
 *
 * An exception says why:
 *
 *     // eslint-disable-next-line no-restricted-syntax -- a port
 *     const port = Number(text);
 */
const number = [
  // `Number` as a function, called or passed on, but neither `Number.isInteger` nor `expect.any(Number)`.
  "Identifier[name='Number']:not(MemberExpression > .object):not(CallExpression[callee.object.name='expect'][callee.property.name='any'] > .arguments):not(TSTypeReference > *):not(Property > .key)",
  'Identifier[name=/^parse(Int|Float)$/]:not(Property > .key)',
  "UnaryExpression[operator='+']:not([argument.raw=/^[0-9.]/])",
].map((selector) => ({
  selector,
  message:
    'Amounts are read by packages/shared/src/money.ts. Disable this where it is no money, and say what it is.',
}));

const decimal = {
  selector: "ImportExpression[source.value='decimal.js']",
  message: 'decimal.js stays inside packages/shared/src/money.ts: use or add a function there.',
};

const guessable = {
  selector: "Identifier[name='drawIdsFrom']",
  message:
    'Ids that follow from a seed are for test/simulation alone: whoever knows the seed can guess them.',
};

const clock = [
  "MemberExpression[object.name='Date'][property.name='now']",
  "MemberExpression[object.name='Math'][property.name='random']",
  "NewExpression[callee.name='Date'][arguments.length=0]",
  'CallExpression[callee.name=/^(Date|fetch|setTimeout|setInterval|setImmediate)$/]',
  'MemberExpression[object.name=/^(performance|crypto|process)$/]',
].map((selector) => ({
  selector,
  message: 'Domain decides from its arguments: take `now`, or what was random, as one.',
}));

const state = [
  'Program > VariableDeclaration[kind=let]',
  'Program > ExportNamedDeclaration > VariableDeclaration[kind=let]',
  ...['Program', 'Program > ExportNamedDeclaration'].map(
    (parent) =>
      `${parent} > VariableDeclaration > VariableDeclarator > NewExpression[callee.name=/^(Weak)?(Map|Set)$/][arguments.length=0]`,
  ),
].map((selector) => ({
  selector,
  message: 'What a service remembers is made when it starts: two of them in one process must not share it.',
}));

const env = [
  "MemberExpression[object.name='process'][property.name='env']",
  "VariableDeclarator[init.name='process'] > ObjectPattern > Property[key.name='env']",
].map((selector) => ({
  selector,
  message: 'Only main.ts reads process.env and hands it to loadConfig: take the setting as an argument.',
}));

const SILENCERS = '[property.name=/^(only|skip|todo|failing|skipIf)$/]';
const focus = [
  // Also after `.each(…)` and the like.
  ...['object.name', 'object.object.name', 'object.callee.object.name'].map(
    (root) => `MemberExpression[${root}=/^(it|test|describe)$/]${SILENCERS}`,
  ),
  'CallExpression[callee.name=/^(fit|fdescribe|xit|xtest|xdescribe)$/]',
].map((selector) => ({ selector, message: 'Every test runs, everywhere: repair it or delete it.' }));

const MAX_LINES = 300;

type Restriction = { selector: string; message: string };

const syntax = (...restrictions: (Restriction | Restriction[])[]): Linter.RulesRecord => ({
  'no-restricted-syntax': ['error', ...restrictions.flat()],
});

const tests = ['**/*.test.ts'];
/** What a person starts reads the environment; so do tests and what they are made of. */
const mayReadEnv = [
  ...tests,
  '**/main.ts',
  ...['apps/sandbox', 'tools', 'bench', 'test', 'testing', '*/*/test'].map((folder) => `${folder}/**/*.ts`),
];

/** A later entry replaces the list of an earlier one: each has all that holds for its files. */
export const restrictions: Linter.Config[] = [
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser as Linter.Parser },
    rules: {
      'max-lines': ['error', { max: MAX_LINES }],
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'anywhere' }],
      'no-restricted-imports': ['error', { name: 'decimal.js', message: decimal.message }],
      ...syntax(number, decimal, guessable, env),
    },
  },
  // The set-up, which runs before anything is installed.
  { files: ['**/*.mjs'], rules: { 'max-lines': ['error', { max: MAX_LINES }] } },
  { files: ['services/*/src/**/*.ts'], rules: syntax(number, decimal, guessable, env, state) },
  { files: ['services/*/src/domain/**/*.ts'], rules: syntax(number, decimal, guessable, env, state, clock) },
  { files: mayReadEnv, rules: syntax(number, decimal, guessable) },
  { files: ['services/*/src/main.ts'], rules: syntax(number, decimal, guessable, state) },
  { files: tests, rules: syntax(number, decimal, guessable, focus) },
  { files: ['test/simulation/**/*.ts'], rules: syntax(number, decimal, focus) },
  { files: ['packages/shared/src/ids.ts'], rules: syntax(number, decimal, env) },
  {
    files: ['packages/shared/src/money.ts'],
    rules: { ...syntax(guessable, env), 'no-restricted-imports': 'off' },
  },
];
