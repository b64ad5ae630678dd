import { describe, expect, it } from '@jest/globals';
import { secretsIn } from './secret-scan.ts';

// Put together here, so that this file itself holds no such text.
const path = (...segments: string[]) => `/${segments.join('/')}`;
const url = (host: string, rest = '/') => `https:/${path(host)}${rest}`;

describe('what belongs to one machine is found', () => {
  it.each([
    ['a home folder', `const data = '${path('home', 'ann', 'data')}';`, path('home', 'ann')],
    ['the home folder of root', `see ${path('root', '.cache')}`, path('root', '.cache')],
    ['a temporary file', `open("${path('tmp', 'x.json')}")`, path('tmp', 'x.json')],
    ['a home folder on macOS', `(${path('Users', 'ann')})`, path('Users', 'ann')],
    ['a home folder on Windows', `C:${'\\'}Users${'\\'}ann`, `C:${'\\'}Users${'\\'}ann`],
    ['a private registry', `registry=${url('npm.corp.example')}`, 'npm.corp.example'],
    ['a mirror with a path', url('mirror-registry.example:4873', '/simple'), 'mirror-registry.example'],
    [
      'a lock file with a host',
      `tarball${': '}${url('a.example', '/x.tgz')}`,
      `tarball${': '}${url('a.example', '/x.tgz')}`,
    ],
  ])('%s', (_what, text, found) => {
    expect(secretsIn(`first line\n${text}\n`)).toEqual([expect.objectContaining({ line: 2, found })]);
  });

  it('and what this machine is known by', () => {
    expect(secretsIn('see /srv/shop/notes', ['/srv/shop'])).toEqual([
      { line: 1, found: '/srv/shop', advice: 'this very machine' },
    ]);
  });
});

it.each([
  ['the public registry', url('registry.npmjs.org')],
  ['a page about a package', url('www.npmjs.com', '/package/pg')],
  ['the user of the official images', `WORKDIR ${path('home', 'node', 'app')}`],
  ['a folder without a file in it', `tmpfs: ${path('tmp')}`],
  ['the path of a URL', url('example.com', path('home', 'page'))],
  ['a relative path', `./work/notes and ..${path('tmp', 'x')}`],
])('%s is no leak', (_what, text) => {
  expect(secretsIn(text, ['/srv/shop'])).toEqual([]);
});
