import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';

/** One thing that is wrong, as a look at the books shows it. */
export type SeenBreach = {
  invariant: string;
  /** Names it, and stays the same while money moves on around it. */
  subject: string;
  what: string;
  /** By how much, where that can grow. */
  amount?: bigint;
  asset?: string;
  chain?: string;
  /** It stands for those of its invariant and asset that were too many to be named. */
  isTheRest?: true;
  /** It may be money lost. */
  pausesPayouts: boolean;
};

/** What is known of it from the looks before. */
export type KnownBreach = SeenBreach & {
  times: number;
  /** An operator lets payouts go on all the same. */
  isAccepted: boolean;
  /** Up to that: more of it nobody has accepted. */
  acceptedAmount?: bigint;
};

export type CheckResult = {
  seen: readonly SeenBreach[];
  /** Every row there is was looked at, not only what is new. */
  isWhole: boolean;
  /** The chain that was compared; none: the books were, with each other. */
  chain?: string;
  /** Only these were asked about; none: all. */
  invariants?: ReadonlySet<string>;
};

export type Assessment = {
  /** Known ones that are not there any more. */
  gone: KnownBreach[];
  /** Seen for the first time: money may have been in motion, so nothing is done before the next result. */
  suspected: SeenBreach[];
  /** Seen for the second time just now. */
  confirmed: SeenBreach[];
  /** Whose payouts must not go on. */
  halts: { asset: AssetSymbol; breaches: SeenBreach[] }[];
};

const nameOf = ({ invariant, subject }: Pick<SeenBreach, 'invariant' | 'subject'>): string =>
  `${invariant} ${subject}`;

const sizeOf = (amount: bigint): bigint => (amount < 0n ? -amount : amount);

/** Whether it is no more than what was accepted, and on the same side. */
function isCovered({ acceptedAmount }: KnownBreach, { amount }: SeenBreach): boolean {
  if (amount === undefined) return true;
  if (acceptedAmount === undefined) return false;
  return sizeOf(amount) <= sizeOf(acceptedAmount) && amount * acceptedAmount >= 0n;
}

/** What is seen, and of each breach that outgrew its acceptance another one beside it, which nobody has accepted. */
export function withOutgrown(
  known: readonly KnownBreach[],
  seen: readonly SeenBreach[],
): readonly SeenBreach[] {
  const accepted = new Map(known.filter((one) => one.isAccepted).map((one) => [nameOf(one), one]));
  const outgrown = seen.filter((one) => {
    const before = accepted.get(nameOf(one));
    return before !== undefined && !isCovered(before, one);
  });
  return [...seen, ...outgrown.map((one) => ({ ...one, subject: `${one.subject}, more than was accepted` }))];
}

/** What a look at the books means, after the looks before it. A breach counts when it is seen twice. */
export function assess(known: readonly KnownBreach[], { seen, isWhole, ...result }: CheckResult): Assessment {
  const before = new Map(known.map((one) => [nameOf(one), one]));
  const now = new Set(seen.map(nameOf));
  const isLookedAt = ({ pausesPayouts, chain, invariant }: KnownBreach): boolean =>
    // What may be money lost, a look at what is new does not show to be gone.
    (isWhole || !pausesPayouts) && chain === result.chain && result.invariants?.has(invariant) !== false;
  // The limit was reached: one that is not named may be among those that were only counted.
  const unnamed = seen.filter(({ isTheRest }) => isTheRest === true);
  const isCounted = ({ invariant, asset }: KnownBreach): boolean =>
    unnamed.some((rest) => rest.invariant === invariant && rest.asset === asset);
  const counts = seen.filter((one) => {
    const earlier = before.get(nameOf(one));
    return one.pausesPayouts && earlier !== undefined && !earlier.isAccepted;
  });
  return {
    gone: known.filter((one) => !now.has(nameOf(one)) && isLookedAt(one) && !isCounted(one)),
    suspected: seen.filter((one) => !before.has(nameOf(one))),
    confirmed: seen.filter((one) => before.get(nameOf(one))?.times === 1),
    halts: assetSymbols.flatMap((asset) => {
      const breaches = counts.filter((one) => one.asset === undefined || one.asset === asset);
      return breaches.length === 0 ? [] : [{ asset, breaches }];
    }),
  };
}
