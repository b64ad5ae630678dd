export type LastChecks = {
  /** How long ago the last check ended, by the database's clock; null when there was none. */
  ageMs: number | null;
  wholeAgeMs: number | null;
  /** Discrepancies that may mean lost money and that no operator has accepted: found once, and found more often. */
  suspected: readonly { invariant: string; chain?: string }[];
  confirmed: number;
  /** Chains whose last comparison succeeded. */
  seenChains: ReadonlySet<string>;
};

/** Every row; new and open rows; or again every row of the invariants and chains with a suspected discrepancy. */
export type CheckPlan =
  | { scope: 'whole' | 'recent' }
  | { scope: 'again'; invariants: ReadonlySet<string>; chains: ReadonlySet<string> };

export type Pace = { checkEveryMs: number; wholeEveryMs: number };

/** By then money in motion has arrived, and a node that lagged has caught up. */
const LOOK_AGAIN_AFTER_MS = 15_000;
/** How often every row is checked while an asset is halted. */
const WHOLE_WHILE_WRONG_MS = 15 * 60_000;

/** The check that is due now; undefined when none is. */
export function nextCheck(
  { ageMs, wholeAgeMs, suspected, confirmed, seenChains }: LastChecks,
  { checkEveryMs, wholeEveryMs }: Pace,
): CheckPlan | undefined {
  if (ageMs === null || wholeAgeMs === null) return { scope: 'whole' };
  // A check that ended in the future was dated by a clock that has been set back since.
  const isOlder = (age: number, than: number): boolean => age < 0 || age >= than;
  // Checking sooner helps nothing while the chain's node cannot be asked: it is asked at its own pace.
  const urgent = suspected.filter(({ chain }) => chain === undefined || seenChains.has(chain));
  const lookAfter = urgent.length > 0 ? Math.min(checkEveryMs, LOOK_AGAIN_AFTER_MS) : checkEveryMs;
  if (!isOlder(ageMs, lookAfter)) return undefined;
  // A suspicion is confirmed over every row, of its invariants alone: all of them may take half an hour.
  if (urgent.length > 0) {
    return {
      scope: 'again',
      invariants: new Set(urgent.flatMap(({ invariant, chain }) => (chain === undefined ? [invariant] : []))),
      chains: new Set(urgent.flatMap(({ chain }) => chain ?? [])),
    };
  }
  const wholeAfter = confirmed > 0 ? Math.min(wholeEveryMs, WHOLE_WHILE_WRONG_MS) : wholeEveryMs;
  return { scope: isOlder(wholeAgeMs, wholeAfter) ? 'whole' : 'recent' };
}
