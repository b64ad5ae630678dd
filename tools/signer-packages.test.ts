import { expect, test } from '@jest/globals';
import { loadedPackages, packagesOf, reasons } from './signer-packages.ts';
import { root } from './tracked-files.ts';

const loaded = loadedPackages(root);
const packages = packagesOf(root, loaded);

test('each package that the signer loads has a reason, or comes with one that has', () => {
  expect(packages.map(({ name }) => name)).toEqual(Object.keys(reasons));
  const listed = packages.flatMap(({ brings }) => brings).length + packages.length;
  expect(listed).toBe(loaded.length);
});

test('the signer loads no HTTP server and no composer of SQL', () => {
  expect(loaded.length).toBeGreaterThan(20);
  expect(loaded.filter((folder) => /\/(?:express|knex|body-parser|router|send)$/.test(folder))).toEqual([]);
});
