import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..', '..');
/** Where a process can be told to die. */
const SOURCES = ['packages/shared/src', 'services'];

/** What the variable parts of a point's name can be: a part that is not named here fails the test. */
const expansions: Readonly<Record<string, readonly string[]>> = {
  kind: ['bitcoin', 'evm', 'solana'],
  accountKind: ['evm', 'solana'],
  purpose: ['payout', 'sweep'],
  'stored.purpose': ['payout', 'sweep'],
  'transaction.purpose': ['payout', 'sweep'],
  to: ['settled', 'released', 'voided'],
};

/** What kills a process at a named point in tests. */
const CALLS = ['failpoint'];

/** Every failpoint in the source, once for each name it can have. */
export function failpointsInSource(): string[] {
  return SOURCES.flatMap((folder) => sourceFiles(join(ROOT, folder))).flatMap(pointsIn);
}

const sourceFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'test'].includes(entry.name) ? [] : sourceFiles(path);
    const isSource = entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts');
    return isSource && entry.name !== 'failpoint.ts' ? [path] : [];
  });

function pointsIn(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const points: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && CALLS.includes(node.expression.getText())) {
      const [argument] = node.arguments;
      if (argument === undefined) throw new Error(`${path}: a failpoint without a name`);
      points.push(...namesOf(argument));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return points;
}

function namesOf(argument: ts.Expression): string[] {
  if (ts.isStringLiteralLike(argument)) return [argument.text];
  if (!ts.isTemplateExpression(argument)) {
    throw new Error(`${argument.getText()} is no name that can be read in the source`);
  }
  return argument.templateSpans.reduce<string[]>(
    (names, { expression, literal }) => {
      const parts = expansions[expression.getText()];
      if (parts === undefined) throw new Error(`nobody says what ${expression.getText()} can be`);
      return names.flatMap((name) => parts.map((part) => name + part + literal.text));
    },
    [argument.head.text],
  );
}
