import { expect, test } from '@jest/globals';
import { deadLinks, packedReadme } from './packed-readme.ts';

const packed = new Set(['docs/api.md', 'examples/shop']);
const isPacked = (file: string) => packed.has(file);

test.each([
  ['[the API](api.md#events)', '[the API](docs/api.md#events)'],
  ['[this example](../examples/shop)', '[this example](examples/shop)'],
  ['[books](guides/closing-the-books.md)', 'books (`/docs/guides/closing-the-books` of your Quittance)'],
  [
    '[rule](monitor.md#audit-log), [two](x.md)',
    'rule (`/docs/monitor#audit-log` of your Quittance), two (`/docs/x` of your Quittance)',
  ],
  ['[`compose`](../docker-compose.yml)', '`compose` (`docker-compose.yml` in the repository)'],
  ['[npm](https://www.npmjs.com) [below](#notes)', '[npm](https://www.npmjs.com) [below](#notes)'],
])('the README of a tarball has %s as %s', (written, shown) => {
  const readme = packedReadme('docs/testkit.md', written, isPacked);
  expect(readme).toBe(shown);
  expect(deadLinks(readme, isPacked)).toEqual([]);
});

test('a link that leads out of the tarball is found', () => {
  expect(deadLinks('[a](docs/api.md#x) [b](docs/no.md) [c](../up.md)', isPacked)).toEqual([
    'docs/no.md',
    '../up.md',
  ]);
});
