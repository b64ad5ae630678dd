import { expect, test } from '@jest/globals';
import { textOf, trackedFiles } from './tracked-files.ts';

/** The same part of each service, or the same thing seen by several of them. */
const SHARED_MEANING = new Set(['Ports', 'Settings', 'HttpPorts', 'Disposition']);

/** All but the client: merchants know a resource by the name that the API gives it. */
const ONE_VOCABULARY = /^(?:services|packages)\/(?!client\/)[^/]+\/src\/.*(?<!\.test)\.ts$/;

test('no exported type of services and packages has the name of another', () => {
  const places = new Map<string, string[]>();
  for (const path of trackedFiles()) {
    if (!ONE_VOCABULARY.test(path)) continue;
    const text = textOf(path);
    for (const [, name = ''] of text.matchAll(/^export (?:type|interface|class) (\w+)/gm))
      places.set(name, [...(places.get(name) ?? []), path]);
  }
  expect(places.size).toBeGreaterThan(100);
  const twice = [...places].filter(([name, paths]) => paths.length > 1 && !SHARED_MEANING.has(name));
  expect(twice).toEqual([]);
});
