import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { namelessShop, pageFor } from '@quittance/shared/shop-page';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { examples } from './page-examples.ts';

test('no page of a payer is larger on the wire than is recorded', () => {
  const today = Object.fromEntries(
    Object.entries(examples).map(([name, show]) => [
      name,
      gzipSync(show(pageFor('en', namelessShop)).html).length,
    ]),
  );
  const recorded = recordedCounts(new URL('page-bytes.json', import.meta.url), today);
  expect(Object.keys(today)).toEqual(Object.keys(recorded));
  expect(Object.entries(today).filter(([name, bytes]) => bytes > (recorded[name] ?? 0))).toEqual([]);
});
