import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from './tracked-files.ts';

/** Documents name files by path. A file that is renamed must be renamed there too. */

/** Folders that are being moved: a path counts when the file is at its former place. */
const FORMER_FOLDERS: readonly [now: string, former: string][] = [
  ['apps/cli', 'apps/cli'],
  ['apps/sandbox', 'sandbox'],
  ['packages/reconciliation', 'packages/reconciliation'],
  ['testing/stack', 'testing/testkit'],
  ['testing/', 'packages/'],
  ['test/chain-scenarios', 'test/chain-scenarios'],
  ['tools/', 'tools/'],
];
const PATH = /`((?:services|packages|apps|testing|test|tools|docs|deploy)\/[\w./-]+)`/g;

const isThere = (path: string) =>
  [path, ...FORMER_FOLDERS.map(([now, former]) => path.replace(now, former))].some((one) =>
    existsSync(join(root, one)),
  );

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/glossary.md'])('every path in %s exists', (file) => {
  const paths = [...readFileSync(join(root, file), 'utf8').matchAll(PATH)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...documents()])(
  'every link in %s leads to a file and a heading that exist',
  (file) => {
    const wrong: string[] = [];
    for (const [, target = ''] of readFileSync(join(root, file), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? join(root, file) : join(root, file, '..', path);
      const found = existsSync(linked) && (anchor === undefined || anchorsOf(linked).includes(anchor));
      if (!found) wrong.push(target);
    }
    expect(wrong).toEqual([]);
  },
);

function documents(): string[] {
  return ['docs', 'docs/decisions'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
}

/** The anchors that GitHub gives the headings of a document. */
function anchorsOf(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
