import ts from 'typescript';
import { comments } from './comments.ts';

/**
 * The rules that neither eslint nor biome can express; the others are in tools/eslint-restrictions.ts and biome.json.
 * An exception is a comment on the line or above it: `// house-rules-disable beside -- why`.
 */
export type Violation = { line: number; rule: Rule; advice: string };

const advices = {
  name: 'name the file after what it holds, not after what kind of file it is',
  expectation:
    'a test that expects nothing cannot fail: add an expect, and break the code once to see it red',
  beside:
    'a test must not see what lies in the checkout beside the sources: use a folder of its own, and give SANDBOX_DIR or a database to what it starts',
  reason: 'say why the rule is wrong here: `// eslint-disable-next-line <rule> -- <why>`',
} as const;
export type Rule = keyof typeof advices;

const isTest = (path: string) => path.endsWith('.test.ts');
/** Who may know where `npm start` keeps its data in the checkout: what a person starts. */
const mayKnowTheSandbox = (path: string) =>
  /^apps\/(?:cli\/src\/(?:sandbox-folder|operator-file|main)|sandbox\/src\/(?:main|pay-invoice))\.ts$/.test(
    path,
  );
/** A folder or file that a person or a run leaves in the checkout, as a path or the end of one. */
const leftBehind = /(?:^|\/)(?:\.sandbox|\.env)(?:\/|$)/;
/** Programs that look for the sandbox in the checkout, unless their environment says otherwise. */
const looksForTheSandbox = /(?:^|\/)(?:sandbox\/src\/(?:main|pay)\.ts|cli\/src\/main\.ts|quittance\.mjs)$/;
const saysWhich = /\b(?:SANDBOX_DIR|DATABASE_URL_ADMIN)\b/;
const runsInTests = (path: string) => isTest(path) || /(?:^|\/)test\/|^testing\//.test(path);
const vague = /^(?:utils?|helpers?|common|misc|types)$/;

/** The first name of `it.each(table)`, `Date.now` and the like. */
function rootName(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootName(node.expression);
  if (ts.isTaggedTemplateExpression(node)) return rootName(node.tag);
  return undefined;
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

/** Whether something is expected in `node`: in itself, by a function of the same file, or by a method that says so in its name. */
const expects = (node: ts.Node, expecting: ReadonlySet<string>) =>
  some(node, (inner) => {
    if (!ts.isCallExpression(inner)) return false;
    const { expression } = inner;
    const name = rootName(expression) ?? '';
    const method = ts.isPropertyAccessExpression(expression) ? expression.name.text : '';
    return saysSo.test(name) || saysSo.test(method) || expecting.has(name);
  });
const saysSo = /^(?:expect|assert)/;

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

/** Words without which nothing in a file that is no test can break a rule: most files are not parsed. */
const worthParsing =
  /CHECKOUT_SANDBOX|\.sandbox|\.env|sandbox\/src\/|cli\/src\/main|quittance\.mjs|eslint-disable/;

/** All that breaks a rule of the project in the file `path`, a path from the root, that holds `text`. */
export function violations(path: string, text: string): Violation[] {
  const parsed = isTest(path) || worthParsing.test(text) ? text : '';
  const file = ts.createSourceFile(path, parsed, ts.ScriptTarget.Latest);
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
    if (seesBeside(node, path, text)) at('beside');
    if (isTest(path)) {
      const body = testBody(node);
      if (body !== undefined) {
        const named = ts.isIdentifier(body) && expecting.has(body.text);
        if (!named && !expects(body, expecting)) at('expectation');
      }
    }
    return false;
  });

  for (const { position, text: comment } of text.includes('eslint-disable') ? comments(file) : [])
    for (const match of comment.matchAll(/\beslint-disable\b.*/g))
      if (!/ -- \S.{3,}/.test(match[0])) add('reason', position + match.index);
  const lines = text.split('\n');
  const isAllowed = ({ line, rule }: Violation) =>
    [lines[line - 2], lines[line - 1]].some((one) => one?.includes(`// house-rules-disable ${rule} -- `));
  return found.filter((one) => !isAllowed(one)).sort((a, b) => a.line - b.line);
}
