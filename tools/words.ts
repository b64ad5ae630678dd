import ts from 'typescript';
import { comments } from './comments.ts';
import { textOf, trackedFiles } from './tracked-files.ts';

/**
 * node tools/words.ts
 *
 * Finds the words that docs/glossary.md lists as former, in paths, identifiers, comments, documents and test titles. The
 * table "Former words" there is the list: a word that is added to it is found from then on.
 */

/** Former words that are right in one file: names of a library, and of the public interface. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // Fields of JSON and of NATS that keep their names.
  'apps/cli/src/database-commands.ts': ['breaches'],
  'apps/cli/src/pause-commands.ts': ['breaches'],
  'apps/cli/src/dead-letter-commands.ts': ['parked'],
  'apps/cli/test/dead-letters.test.ts': ['breaches'],
  'apps/cli/test/quittance.test.ts': ['breaches'],
  'packages/shared/src/commands.ts': ['parked'],
  'packages/shared/src/events.ts': ['breaches'],
  'packages/shared/src/reconcile.ts': ['parked'],
  'packages/shared/test/reconcile.test.ts': ['parked'],
  'services/auditor/src/operations/halts.ts': ['breaches'],
  'services/auditor/src/http/books.ts': ['breaches'],
  'services/auditor/test/audit-fixture.ts': ['breaches'],
  'test/drills/drills.test.ts': ['breaches'],
  'test/e2e/shop/halt.ts': ['breaches'],
  'test/privileges/nats-permitted.test.ts': ['parked'],
  // A field of the stored installation.
  'test/e2e/upgrade.test.ts': ['parked'],
  'test/e2e/upgrade/stored.ts': ['parked'],
  // Former names that still work.
  'apps/cli/src/operator-command-line.ts': ['taken in'],
  'packages/shared/operator.sql': ['deed', 'deeds'],
  // Functions of @solana/kit.
  'testing/stack/src/solana.ts': ['unit price'],
  'packages/chains/src/solana/transaction.ts': ['unit price'],
  // A field of an IP address in Node.
  // Fonts and charts of Mantine.
  'apps/dashboard/src/pages/home/volume-chart.tsx': ['bar', 'bars'],
  'apps/dashboard/src/parts/values.tsx': ['family'],
  'apps/dashboard/src/theme.ts': ['family'],
  'packages/shared/src/bus-servers.ts': ['family'],
  'services/gateway/src/proxy/agents.ts': ['family'],
  'services/gateway/src/proxy/agents.test.ts': ['family'],
  'services/webhooks/src/connections.ts': ['family'],
  'services/webhooks/src/public-address-guard.ts': ['family'],
  'services/webhooks/test/ssrf.test.ts': ['family'],
  'services/webhooks/test/webhook-sender.test.ts': ['family'],
};

const GLOSSARY = 'docs/glossary.md';
const FORMER_WORDS = '## Former words';

/** Where a former word is looked for: a word of ordinary English is wrong as a name only. */
const places = ['text and names', 'text', 'names'] as const;
type Place = (typeof places)[number];
type FormerWord = { word: string; term: string; place: Place };
type Finding = { line: number; word: string; term: string };

/** The rows of the table whose third column says where to look. */
export function formerWords(glossary: string): FormerWord[] {
  const [, after = ''] = glossary.split(FORMER_WORDS);
  const [section = ''] = after.split(/^## /m);
  return [...section.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].flatMap(
    ([, words = '', term = '', checked = '']) => {
      const place = places.find((one) => one === checked);
      return place === undefined ? [] : words.split(', ').map((word) => ({ word, term, place }));
    },
  );
}

/** Keeps the length and the lines of what is left out, so that positions stay right. */
const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ');

/** A document without code, link targets and comments: names in them are checked where they are defined. */
const proseOf = (markdown: string) =>
  markdown.replaceAll(/^( *)```[\s\S]*?^\1```$|`[^`\n]*`|\]\([^)]*\)|<!--[\s\S]*?-->/gm, blank);

type Part = { position: number; text: string };
type Parts = { texts: Part[]; names: Part[] };

const testFunctions = new Set(['it', 'test', 'describe']);

function rootName(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootName(node.expression);
  if (ts.isTaggedTemplateExpression(node)) return rootName(node.tag);
  return undefined;
}

function partsOfCode(path: string, text: string): Parts {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const parts: Parts = { texts: comments(file), names: [] };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
      parts.names.push({ position: node.getStart(file), text: node.text });
    if (ts.isJsxText(node)) parts.texts.push({ position: node.getStart(file), text: node.text });
    if (ts.isCallExpression(node) && testFunctions.has(rootName(node.expression) ?? '')) {
      const [title] = node.arguments;
      if (title !== undefined && (ts.isStringLiteral(title) || ts.isNoSubstitutionTemplateLiteral(title)))
        parts.texts.push({ position: title.getStart(file), text: title.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return parts;
}

function partsOfSql(text: string): Parts {
  // A comment may hold a quote and a string may hold two hyphens: whichever begins first counts.
  const notCode = /--.*|'(?:[^']|'')*'/g;
  const parts = (of: string, pattern: RegExp) =>
    [...of.matchAll(pattern)].map((match) => ({ position: match.index, text: match[0] }));
  return {
    texts: parts(text, notCode).filter((part) => part.text.startsWith('--')),
    names: parts(text.replaceAll(notCode, blank), /[A-Za-z_]\w*/g),
  };
}

function partsOf(path: string, text: string): Parts {
  if (path.endsWith('.md')) return { texts: [{ position: 0, text: proseOf(text) }], names: [] };
  if (path.endsWith('.sql')) return partsOfSql(text);
  return partsOfCode(path, text);
}

/** `oneName`, `one_name` and `one-name` as the words they consist of. */
const wordsOf = (name: string) =>
  name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[^A-Za-z\d]+/g, ' ');

/** The former words in the file `path`, a path from the root, that holds `text`. */
export function findFormerWords(path: string, text: string, words: readonly FormerWord[]): Finding[] {
  const [checked = '', ...rest] = path === GLOSSARY ? text.split(FORMER_WORDS) : [text];
  const { texts, names } = partsOf(path, rest.length > 0 ? checked : text);
  // A name is used many times, and there are many words.
  const placesOfName = Map.groupBy([{ position: 0, text: path }, ...names], (part) => wordsOf(part.text));
  const found: Finding[] = [];
  for (const { word, term, place } of words) {
    if (EXCEPTIONS[path]?.includes(word) === true) continue;
    const pattern = new RegExp(`\\b${word.replaceAll(' ', '\\s+')}\\b`, 'gi');
    const add = (position: number) =>
      found.push({ line: text.slice(0, position).split('\n').length, word, term });
    if (place !== 'names')
      for (const part of texts)
        for (const match of part.text.matchAll(pattern)) add(part.position + match.index);
    if (place !== 'text')
      for (const [name, parts] of placesOfName)
        if (name.search(pattern) >= 0) for (const part of parts) add(part.position);
  }
  return found.sort((a, b) => a.line - b.line);
}

/** A migration keeps its text once it was applied, and one that renames has to say what it renames. */
const isReadable = (path: string) =>
  /\.(?:tsx?|md|sql|mjs)$/.test(path) && !path.includes('/migrations/') && !path.endsWith('/schema.sql');

/** Every former word in the files that are checked, or below the folders `asked` for, as lines to print. */
function formerWordsIn(asked: readonly string[] = []): string[] {
  const words = formerWords(textOf(GLOSSARY));
  const isAsked = (path: string) => isReadable(path) && asked.some((folder) => path.startsWith(folder));
  return trackedFiles()
    .filter((path) => (asked.length > 0 ? isAsked(path) : isReadable(path)))
    .flatMap((path) =>
      findFormerWords(path, textOf(path), words).map(
        ({ line, word, term }) => `${path}:${line} ${word}: now ${term}`,
      ),
    );
}

if (import.meta.main) {
  const found = formerWordsIn(process.argv.slice(2));
  for (const line of found) process.stdout.write(`${line}\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
