import ts from 'typescript';
import { comments } from './comments.ts';

/**
 * The rules that no linter knows. They read the syntax tree, so that words in strings and comments do not
 * count.
 *
 * Where a rule is wrong for once, the line says so, and why, in a comment on it or above it:
 *
 *     // tidy-allow number: a port
 *     const port = Number(text);
 */
export type Violation = { line: number; rule: Rule; advice: string };

const advices = {
  number:
    'amounts are read by packages/shared/src/money.ts; what is no money says so: `// tidy-allow number: a port`',
  decimal: 'decimal.js stays inside packages/shared/src/money.ts; use or add a function there',
  clock: 'domain decides from its arguments: take `now` (or what was random) as one',
  guessable:
    'ids that follow from a seed are for test/simulation alone: whoever knows the seed can guess them',
  env: 'only main.ts reads process.env and hands it to loadConfig; take the setting as an argument',
  state: 'what a service remembers is made when it starts: two of them in one process must not share it',
  console: 'use the logger; a command line writes to process.stdout',
  unfinished: 'finish it, or open an issue and leave no trace here',
  name: 'name the file after what it holds, not after what kind of file it is',
  focus: 'every test runs, everywhere: repair it or delete it',
  default: 'export it by name, so that it is called the same everywhere',
  expectation:
    'a test that expects nothing cannot fail: add an expect, and break the code once to see it red',
  beside:
    'a test must not see what lies in the checkout beside the sources: use a folder of its own, and give SANDBOX_DIR or a database to what it starts',
  allowance:
    'this tidy-allow allows nothing here, or gives no reason: `// tidy-allow <rule>: <why>`; delete it',
} as const;
export type Rule = keyof typeof advices;

/** Rules without these have no exceptions worth a comment. */
const allowable: readonly string[] = [
  'number',
  'clock',
  'env',
  'focus',
  'expectation',
  'beside',
] satisfies Rule[];

const moneyFile = 'packages/shared/src/money.ts';
const isTest = (path: string) => path.endsWith('.test.ts');
const isDomain = (path: string) => /^services\/[^/]+\/src\/domain\//.test(path) && !isTest(path);
const isService = (path: string) => /^services\/[^/]+\/src\//.test(path) && !isTest(path);
const mayReadEnv = (path: string) =>
  isTest(path) ||
  /(?:^|\/)main\.ts$/.test(path) ||
  /^(?:apps\/sandbox|tools|bench|test|testing|[^/]+\/[^/]+\/test)\//.test(path);
/** Who makes ids that follow from a seed, and the file that lets it. */
const mayGuessIds = (path: string) => /^(?:test\/simulation\/|packages\/shared\/src\/ids\.ts$)/.test(path);
/** Tools that are handed a file and take its default export. */
const needsDefault = (path: string) =>
  /(?:\.config\.ts|^tools\/(?:closing-line|slowest-first)\.ts|^testing\/testkit\/src\/global-(?:setup(?:-images)?|teardown)\.ts)$/.test(
    path,
  );
/** Who may know where `npm start` keeps its data in the checkout: what a person starts. */
const mayKnowTheSandbox = (path: string) =>
  /^apps\/(?:cli\/src\/(?:sandbox-folder|operator-file|main)|sandbox\/src\/(?:main|pay))\.ts$/.test(path);
/** A folder or file that a person or a run leaves in the checkout, as a path or the end of one. */
const leftBehind = /(?:^|\/)(?:\.sandbox|\.env)(?:\/|$)/;
/** Programs that look for the sandbox in the checkout, unless their environment says otherwise. */
const looksForTheSandbox = /(?:^|\/)(?:sandbox\/src\/(?:main|pay)\.ts|cli\/src\/main\.ts|quittance\.mjs)$/;
const saysWhich = /\b(?:SANDBOX_DIR|DATABASE_URL_ADMIN)\b/;
const runsInTests = (path: string) => isTest(path) || /(?:^|\/)test\/|^testing\//.test(path);
const vague = /^(?:utils?|helpers?|common|misc|types)$/;

const testNames = new Set(['it', 'test', 'describe']);
const silencers = new Set(['only', 'skip', 'todo', 'failing', 'skipIf']);
const silentNames = new Set(['fit', 'fdescribe', 'xit', 'xtest', 'xdescribe']);
const impure = new Set([
  'performance',
  'crypto',
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
]);

/** The first name of `it.each(table)`, `Date.now` and the like. */
function rootName(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootName(node.expression);
  if (ts.isTaggedTemplateExpression(node)) return rootName(node.tag);
  return undefined;
}

const isAccess = (node: ts.Node, object: string, property: string) =>
  ts.isPropertyAccessExpression(node) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === object &&
  node.name.text === property;

/** `Number` as a function, called or passed on, but neither `Number.isInteger` nor a key of that name. */
function makesNumber(node: ts.Node): boolean {
  if (ts.isPrefixUnaryExpression(node)) {
    return node.operator === ts.SyntaxKind.PlusToken && !ts.isNumericLiteral(node.operand);
  }
  if (!ts.isIdentifier(node)) return false;
  const { parent, text } = node;
  if (text !== 'Number' && text !== 'parseFloat' && text !== 'parseInt') return false;
  if (ts.isPropertyAccessExpression(parent)) return text !== 'Number';
  // `expect.any(Number)` asks for a number and makes none.
  if (ts.isCallExpression(parent) && isAccess(parent.expression, 'expect', 'any')) return false;
  return !ts.isTypeNode(parent) && !ts.isPropertyAssignment(parent);
}

const importsDecimal = (node: ts.Node) =>
  ts.isStringLiteral(node) &&
  node.text === 'decimal.js' &&
  (ts.isImportDeclaration(node.parent) || ts.isCallExpression(node.parent));

function readsClock(node: ts.Node): boolean {
  if (isAccess(node, 'Date', 'now') || isAccess(node, 'Math', 'random')) return true;
  if (ts.isNewExpression(node)) {
    return node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0;
  }
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
    return node.expression.text === 'Date' || impure.has(node.expression.text);
  }
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    return impure.has(node.expression.text);
  }
  return false;
}

/** A variable of a whole module, or a collection that begins empty there: it can only be filled later. */
function isModuleState(node: ts.Node): boolean {
  if (!ts.isVariableStatement(node) || !ts.isSourceFile(node.parent)) return false;
  const { declarationList } = node;
  if ((declarationList.flags & ts.NodeFlags.Const) === 0) return true;
  return declarationList.declarations.some(
    ({ initializer }) =>
      initializer !== undefined &&
      ts.isNewExpression(initializer) &&
      /^(?:Weak)?(?:Map|Set)$/.test(initializer.expression.getText()) &&
      (initializer.arguments?.length ?? 0) === 0,
  );
}

function readsEnv(node: ts.Node): boolean {
  if (isAccess(node, 'process', 'env')) return true;
  // const { env } = process
  return (
    ts.isVariableDeclaration(node) &&
    ts.isObjectBindingPattern(node.name) &&
    node.initializer?.getText() === 'process' &&
    node.name.elements.some((element) => (element.propertyName ?? element.name).getText() === 'env')
  );
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return (
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword) === true
  );
}

function silencesTest(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return silencers.has(node.name.text) && testNames.has(rootName(node.expression) ?? '');
  }
  return ts.isCallExpression(node) && silentNames.has(rootName(node.expression) ?? '');
}

/** Reads, or starts what reads, the data of whoever works in the checkout. */
function seesBeside(node: ts.Node, path: string, text: string): boolean {
  if (mayKnowTheSandbox(path)) return false;
  if (ts.isIdentifier(node)) return node.text === 'CHECKOUT_SANDBOX';
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateTail(node)) return false;
  if (!runsInTests(path)) return false;
  return leftBehind.test(node.text) || (looksForTheSandbox.test(node.text) && !saysWhich.test(text));
}

/** The body of a test, when `node` is the call that declares one. */
function testBody(node: ts.Node): ts.Expression | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const { expression: callee } = node;
  const name = rootName(callee);
  if (name !== 'it' && name !== 'test') return undefined;
  // The inner call of `it.each(table)(name, body)`.
  if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'each') return undefined;
  return node.arguments[1];
}

function some(node: ts.Node, predicate: (node: ts.Node) => boolean): boolean {
  return predicate(node) || ts.forEachChild(node, (child) => some(child, predicate) || undefined) === true;
}

/** Whether something is expected in `node`, in itself or by a function of the same file that expects it. */
const expects = (node: ts.Node, expecting: ReadonlySet<string>) =>
  some(node, (inner) => {
    if (!ts.isCallExpression(inner)) return false;
    const name = rootName(inner.expression) ?? '';
    if (/^(?:expect|assert)/.test(name) || expecting.has(name)) return true;
    return isAccess(inner.expression, 'fc', 'assert');
  });

/** Names of the functions of a file that expect something, also by calling one another. */
function expectingFunctions(file: ts.SourceFile): Set<string> {
  const functions: [string, ts.Node][] = [];
  some(file, (node) => {
    if (ts.isFunctionDeclaration(node) && node.name !== undefined) functions.push([node.name.text, node]);
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      const { initializer } = node;
      if (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)) {
        functions.push([node.name.text, initializer]);
      }
    }
    return false;
  });
  const expecting = new Set<string>();
  for (let before = -1; before < expecting.size; ) {
    before = expecting.size;
    for (const [name, node] of functions) if (expects(node, expecting)) expecting.add(name);
  }
  return expecting;
}

/** All that breaks a rule of the project in the file `path`, a path from the root, that holds `text`. */
export function violations(path: string, text: string): Violation[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const found: Violation[] = [];
  const add = (rule: Rule, position: number) => {
    const line = lineOf(position);
    if (!found.some((other) => other.rule === rule && other.line === line)) {
      found.push({ line, rule, advice: advices[rule] });
    }
  };

  const names = path.replace(/(?:\.test)?\.ts$/, '').split('/');
  if (names.some((name) => vague.test(name))) add('name', 0);

  const expecting = isTest(path) ? expectingFunctions(file) : new Set<string>();
  some(file, (node) => {
    const at = (rule: Rule) => add(rule, node.getStart(file));
    if (path !== moneyFile) {
      if (makesNumber(node)) at('number');
      if (importsDecimal(node)) at('decimal');
    }
    if (isDomain(path) && readsClock(node)) at('clock');
    if (isService(path) && isModuleState(node)) at('state');
    if (!mayReadEnv(path) && readsEnv(node)) at('env');
    if (seesBeside(node, path, text)) at('beside');
    if (!mayGuessIds(path) && ts.isIdentifier(node) && node.text === 'drawIdsFrom') at('guessable');
    if (ts.isPropertyAccessExpression(node) && rootName(node) === 'console') at('console');
    if (!needsDefault(path) && isDefaultExport(node)) at('default');
    if (isTest(path)) {
      if (silencesTest(node)) at('focus');
      const body = testBody(node);
      if (body !== undefined) {
        const named = ts.isIdentifier(body) && expecting.has(body.text);
        if (!named && !expects(body, expecting)) at('expectation');
      }
    }
    return false;
  });

  const allowances: { rule: string; line: number }[] = [];
  for (const { position, text: comment } of comments(file)) {
    for (const match of comment.matchAll(/\b(?:TODO|FIXME|XXX)\b/g))
      add('unfinished', position + match.index);
    for (const match of comment.matchAll(/(?:^|\n)[ \t]*\/\/ tidy-allow\b(?: (\w+): \S.{3,})?/g)) {
      allowances.push({
        rule: match[1] ?? '',
        line: lineOf(position + match.index + match[0].indexOf('//')),
      });
    }
  }
  const allowed = new Set<Violation>();
  for (const { rule, line } of allowances) {
    const here = found.filter(
      (violation) =>
        violation.rule === rule &&
        allowable.includes(rule) &&
        (violation.line === line || violation.line === line + 1),
    );
    for (const violation of here) allowed.add(violation);
    if (here.length === 0) found.push({ line, rule: 'allowance', advice: advices.allowance });
  }
  return found.filter((violation) => !allowed.has(violation)).sort((a, b) => a.line - b.line);
}
