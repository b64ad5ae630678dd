import fc from 'fast-check';

/**
 * Checks a property `least` times, then again and again until `withinMs` have passed or it was checked `most` times.
 * fast-check's own limit leaves a run of an asynchronous property in the background, where it meets the next test.
 */
export async function assertProperty<T>(
  property: fc.IAsyncProperty<T> | fc.IProperty<T>,
  {
    least = 20,
    most = 100,
    withinMs = 3_000,
    examples = [],
  }: { least?: number; most?: number; withinMs?: number; examples?: T[] } = {},
): Promise<void> {
  const until = Date.now() + withinMs;
  for (let runs = 0; runs < most && (runs === 0 || Date.now() < until); runs += least) {
    await fc.assert(property as fc.IAsyncProperty<T>, { numRuns: Math.min(least, most - runs), examples });
  }
}
