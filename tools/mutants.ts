import ts from 'typescript';

/** A change of one place in a file that a test should notice. */
export type Mutant = { line: number; from: string; to: string; start: number; end: number };

/** Mutants that no test notices, by path and as `inWords` says them, and the reason why they are left. */
export type Listed = { reason: string; survivors: Record<string, string[]> };

/** The changed part between « and » in its line, and what stands there instead. No line number: others change above it. */
export function inWords(text: string, { from, to, start, end }: Mutant): string {
  const short = (part: string) => {
    const line = part.replaceAll(/\s+/g, ' ');
    return line.length > 120 ? `${line.slice(0, 80)} … ${line.slice(-40)}` : line;
  };
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start).trimStart();
  const after = text.slice(end).split('\n', 1)[0] ?? '';
  return `${before.slice(-80)}«${short(from)}»${after.slice(0, 60)} → ${to === '' ? 'nothing' : short(to)}`;
}

/** Compares what a run over `paths` found with the list: each listed line stands for one mutant. */
export function compareWithList(
  found: ReadonlyMap<string, readonly string[]>,
  listed: readonly Listed[],
  paths: readonly string[],
): { unlisted: string[]; noLonger: string[] } {
  const unlisted: string[] = [];
  const noLonger: string[] = [];
  for (const path of new Set([...paths, ...found.keys()])) {
    const left = listed.flatMap(({ survivors }) => survivors[path] ?? []);
    for (const one of found.get(path) ?? []) {
      const at = left.indexOf(one);
      if (at < 0) unlisted.push(`${path}: ${one}`);
      else left.splice(at, 1);
    }
    noLonger.push(...left.map((one) => `${path}: ${one}`));
  }
  return { unlisted, noLonger };
}

const operators = new Map(
  Object.entries({
    ...{ '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='], '>=': ['>', '<'] },
    ...{ '===': ['!=='], '!==': ['==='], '&&': ['||'], '||': ['&&'], '??': ['&&'] },
    ...{ '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['*'], '+=': ['-='], '-=': ['+='] },
  }),
);
const pairs = { some: 'every', min: 'max', floor: 'ceil', startsWith: 'endsWith', find: 'findLast' };
const methods = new Map(
  Object.entries(pairs).flatMap(([one, other]) => [[one, other] as const, [other, one] as const]),
);
/** Methods whose result is of the same kind as what they are called on. */
const removable = ['filter', 'sort', 'toSorted', 'reverse', 'slice', 'trim', 'toLowerCase', 'replace'];

const isText = (node: ts.Node): boolean =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)));

/** What may stand in place of a node. */
function replacements(node: ts.Node): string[] {
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    const isChoice = ['&&', '||'].includes(operator);
    if (isChoice) return [node.left.getText(), node.right.getText()];
    return operator === '??' ? [node.right.getText()] : [];
  }
  if (ts.isPrefixUnaryExpression(node)) return [node.operand.getText()];
  if (ts.isPostfixUnaryExpression(node)) return [node.getText().replace('++', '--')];
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) {
    const value = BigInt(node.text.replace('n', '').replace(/\..*/, ''));
    const suffix = ts.isBigIntLiteral(node) ? 'n' : '';
    return [value + 1n, ...(value > 0n ? [value - 1n] : [])].map((near) => `${near}${suffix}`);
  }
  if (ts.isTemplateExpression(node)) return ['``'];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true'];
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    return removable.includes(node.expression.name.text) ? [node.expression.expression.getText()] : [];
  }
  return ts.isExpressionStatement(node) || ts.isBreakOrContinueStatement(node) ? [';'] : [];
}

const conditionOf = (node: ts.Node): ts.Expression | undefined => {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return node.expression;
  return ts.isConditionalExpression(node) || ts.isForStatement(node) ? node.condition : undefined;
};

/** The parts of a list that can be left out. */
function listOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isArrayLiteralExpression(node)) return node.elements;
  const isMerged = ts.isObjectLiteralExpression(node) && node.properties.some(ts.isSpreadAssignment);
  return isMerged ? node.properties : [];
}

/** Every mutant of a file. Types, imports and texts stay: most others would not compile. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = new Map<string, Mutant>();
  const put = (start: number, end: number, to: string) => {
    const from = text.slice(start, end);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    if (from !== to) found.set(`${start} ${end} ${to}`, { line, from, to, start, end });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isImportDeclaration(node)) return;
    for (const to of replacements(node)) put(node.getStart(), node.end, to);
    if (ts.isBinaryExpression(node) && !(node.operatorToken.getText() === '+' && isText(node))) {
      const { operatorToken: sign } = node;
      for (const to of operators.get(sign.getText()) ?? []) put(sign.getStart(), sign.end, to);
    }
    if (ts.isPropertyAccessExpression(node)) {
      const to = methods.get(node.name.text);
      if (to !== undefined) put(node.name.getStart(), node.name.end, to);
    }
    const condition = conditionOf(node);
    // A loop that is always true never ends.
    const constants = ts.isIterationStatement(node, false) ? ['false'] : ['true', 'false'];
    if (condition !== undefined) for (const to of constants) put(condition.getStart(), condition.end, to);
    const parts = listOf(node);
    parts.forEach((part, i) => {
      const [before, next] = [parts[i - 1], parts[i + 1]];
      if (next !== undefined) put(part.getStart(), next.getStart(), '');
      else put(before?.end ?? part.getStart(), part.end, '');
    });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...found.values()];
}
