import fc from 'fast-check';

/**
 * Checks a property that takes long for each run: `least` times, then again and again until `withinMs` have passed or it was
 * checked `most` times. fast-check's own limit leaves a run going in the background, where it meets the next test.
 */
export async function assertProperty<T>(
  property: fc.IAsyncProperty<T>,
  { least, most, withinMs = 3_000 }: { least: number; most: number; withinMs?: number },
): Promise<void> {
  const until = Date.now() + withinMs;
  for (let runs = 0; runs < most && (runs === 0 || Date.now() < until); runs += least) {
    await fc.assert(property, { numRuns: least });
  }
}
