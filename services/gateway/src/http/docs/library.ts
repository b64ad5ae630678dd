import { globSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Document, render } from './markdown.ts';

/** The guides, in the order in which they are listed. */
export const guideNames = [
  'accept-a-payment',
  'webhooks',
  'e-mails',
  'states',
  'under-over-late',
  'payment-button',
  'refunds',
  'payouts',
  'closing-the-books',
  'api-tokens',
  'testing',
  'going-live',
  'moving-from-coinbase-commerce',
  'moving-from-btcpay',
  'versions',
] as const;

/** Documents that explain more than one task, in their order; the others of the folder are for developers of Quittance. */
const referenceNames = ['api', 'webhooks', 'testkit', 'guarantees', 'glossary'];
const operatorNames = [
  'install',
  'kubernetes',
  'configure',
  'monitor',
  'runbook',
  'sizing',
  'console',
  'command-line',
];

export const DOCS_PATH = '/docs';
const root = fileURLToPath(new URL('../../../../../', import.meta.url));

type Kind = 'guide' | 'reference' | 'operator' | 'other';

export type DocumentPage = {
  /** Below `DOCS_PATH`, without a slash at its begin: `guides/refunds`. The markdown is there with `.md`. */
  path: string;
  kind: Kind;
  /** As the file is written: its links lead to the markdown of other documents, because paths are those of files. */
  markdown: string;
  document: Document;
};

export type Library = {
  pages: ReadonlyMap<string, DocumentPage>;
  pictures: ReadonlyMap<string, Buffer>;
};

/** The path of the page of a file of the checkout; undefined when it has none. */
function pathOf(file: string): string | undefined {
  return /^docs\/((?:[\w-]+\/)*[\w-]+)\.md$/.exec(file)?.[1];
}

const isExternal = (target: string): boolean => /^[a-z]+:/.test(target);

/** Resolves a link of `file`: the file that it names, and its anchor with `#`. */
function resolved(file: string, target: string): { linked: string; anchor: string } {
  const [path = '', anchor] = target.split('#');
  const linked = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), path));
  return { linked, anchor: anchor === undefined ? '' : `#${anchor}` };
}

function linkIn(file: string, files: ReadonlySet<string>) {
  return (target: string): string | undefined => {
    if (isExternal(target)) return target;
    const { linked, anchor } = resolved(file, target);
    if (linked === file) return anchor;
    if (/\.svg$/.test(linked) && linked.startsWith('docs/')) return `/${linked}`;
    const path = files.has(linked) ? pathOf(linked) : undefined;
    return path === undefined ? undefined : `${DOCS_PATH}/${path}${anchor}`;
  };
}

function kindOf(path: string): Kind {
  if (path.startsWith('guides/')) return 'guide';
  if (referenceNames.includes(path)) return 'reference';
  return operatorNames.includes(path) ? 'operator' : 'other';
}

const order = [...guideNames.map((name) => `guides/${name}`), ...referenceNames, ...operatorNames];

/** Reads all documents: some 30 files of together 500 kB. */
export function readLibrary(): Library {
  const files = globSync('docs/**/*.md', { cwd: root });
  const known = new Set(files);
  const place = (path: string) => (order.includes(path) ? order.indexOf(path) : order.length);
  const pages = files
    .map((file): DocumentPage => {
      const path = pathOf(file);
      if (path === undefined) throw new Error(`${file} has no page`);
      const text = readFileSync(join(root, file), 'utf8');
      const document = render(text, linkIn(file, known));
      return { path, kind: kindOf(path), markdown: text, document };
    })
    .sort((a, b) => place(a.path) - place(b.path) || (a.path < b.path ? -1 : 1));
  const pictures = globSync('docs/**/*.svg', { cwd: root }).map(
    (file) => [relative('docs', file), readFileSync(join(root, file))] as const,
  );
  return { pages: new Map(pages.map((page) => [page.path, page])), pictures: new Map(pictures) };
}
