import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root, textOf } from './tracked-files.ts';

/** Documents name files by path. A file that is renamed must be renamed there too. */

const PATH = /`((?:services|packages|apps|testing|test|tools|docs|deploy)\/[\w./-]+)`/g;

/** Each service or chain has one: they are named without a folder. */
const OF_EVERY_SERVICE = new Set(['service.ts', 'handlers.ts', 'config.ts', 'views.ts', 'next-step.ts']);

const isThere = (path: string) => existsSync(join(root, path));

const namingPaths = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/glossary.md', 'docs/security/asvs.md'];

test.each(namingPaths)('every path in %s exists', (file) => {
  const paths = [...textOf(file).matchAll(PATH)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test('every short path in ARCHITECTURE.md continues in the folder of the full path before it, or in its src', () => {
  const wrong: string[] = [];
  for (const line of textOf('ARCHITECTURE.md').split('\n')) {
    if (!line.startsWith('| ')) continue;
    let before = '';
    for (const [, path = ''] of line.matchAll(/`([\w./-]+\/?[\w.-]+\.(?:ts|sql|md|yml|json))`/g)) {
      if (OF_EVERY_SERVICE.has(path)) continue;
      if (isThere(path)) before = path;
      else if (before !== '' && !placesOf(path, before).some(isThere)) wrong.push(`${path} after ${before}`);
    }
  }
  expect(wrong).toEqual([]);
});

/** Where a short path may lead: the folder of the full path before it, or the `src` that this is in. */
function placesOf(path: string, before: string): string[] {
  const src = /^.*\/src\//.exec(before)?.[0];
  return [join(dirname(before), path), ...(src === undefined ? [] : [join(src, path)])];
}

const readmes = ['README.md', 'packages/client/README.md', 'integrations/medusa/README.md'];

test.each([...readmes, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', ...documents()])(
  'every link in %s leads to a file and a heading that exist',
  (file) => {
    const wrong: string[] = [];
    for (const [, target = ''] of textOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
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
  return ['docs', 'docs/decisions', 'docs/guides', 'docs/security'].flatMap((folder) =>
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
