import fc from 'fast-check';

/**
 * Checks a property `least` times, then again and again until `withinMs` have passed or it was checked `most` times. A
 * synchronous one is checked a hundred times, however long that takes; fast-check's own limit leaves a run of an asynchronous
 * property in the background, where it meets the next test.
 *
 * @param examples checked first, beside those that are drawn
 */
export async function assertProperty<T>(
  property: fc.IAsyncProperty<T> | fc.IProperty<T>,
  {
    least = property.isAsync() ? 20 : 100,
    most = 100,
    withinMs = 3_000,
    examples = [],
  }: { least?: number; most?: number; withinMs?: number; examples?: T[] } = {},
): Promise<void> {
  const until = Date.now() + withinMs;
  const check = (numRuns: number, first: T[] = []) =>
    fc.assert(property as fc.IAsyncProperty<T>, { numRuns: numRuns + first.length, examples: first });
  await check(Math.min(least, most), examples);
  for (let runs = least; runs < most && Date.now() < until; runs += least) {
    await check(Math.min(least, most - runs));
  }
}
