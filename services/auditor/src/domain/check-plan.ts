export type LastChecks = {
  /** How long ago the last check ended, by the database's clock; undefined when there was none. */
  ageMs: number | undefined;
  wholeAgeMs: number | undefined;
  /** Breaches that may be money lost and that nobody has accepted: seen once, and seen more often. */
  suspected: readonly { invariant: string; chain?: string }[];
  confirmed: number;
  /** Chains whose nodes could be asked when they were asked last. */
  seenChains: ReadonlySet<string>;
};

/** Every row there is; what is newer than the last check; or all rows again, of what is under suspicion only. */
export type Plan =
  | { extent: 'whole' | 'recent' }
  | { extent: 'again'; invariants: ReadonlySet<string>; chains: ReadonlySet<string> };

export type Pace = { checkEveryMs: number; wholeEveryMs: number };

/** Money in motion has come to rest, and a node that was behind has caught up. */
const LOOK_AGAIN_AFTER_MS = 15_000;
/** While an asset is halted: whether it is still wrong. */
const WHOLE_WHILE_WRONG_MS = 15 * 60_000;

/** What is to be looked at now, or nothing yet. */
export function nextCheck(
  { ageMs, wholeAgeMs, suspected, confirmed, seenChains }: LastChecks,
  { checkEveryMs, wholeEveryMs }: Pace,
): Plan | undefined {
  if (ageMs === undefined || wholeAgeMs === undefined) return { extent: 'whole' };
  // What ended in the future was dated by a clock that has been put back since.
  const isOlder = (age: number, than: number): boolean => age < 0 || age >= than;
  // A node that cannot be asked confirms nothing, however often the books are looked at: it is asked at its own pace.
  const urgent = suspected.filter(({ chain }) => chain === undefined || seenChains.has(chain));
  const lookAfter = urgent.length > 0 ? Math.min(checkEveryMs, LOOK_AGAIN_AFTER_MS) : checkEveryMs;
  if (!isOlder(ageMs, lookAfter)) return undefined;
  // What a look at what is new has shown must bear every row: of that question, for all of them may take half an hour.
  if (urgent.length > 0) {
    return {
      extent: 'again',
      invariants: new Set(urgent.flatMap(({ invariant, chain }) => (chain === undefined ? [invariant] : []))),
      chains: new Set(urgent.flatMap(({ chain }) => chain ?? [])),
    };
  }
  const wholeAfter = confirmed > 0 ? Math.min(wholeEveryMs, WHOLE_WHILE_WRONG_MS) : wholeEveryMs;
  return { extent: isOlder(wholeAgeMs, wholeAfter) ? 'whole' : 'recent' };
}
