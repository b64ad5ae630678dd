/** What a transaction offers for each unit of gas, in wei: at most this much in all, and of it this much to its block's maker. */
export type EvmFees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** How a transaction that no block takes gets a higher fee. */
export type BumpPolicy = {
  /** The first one is not counted. */
  bumpsMax: number;
  /** Never more than so many times what the first attempt offered. */
  timesFirstMax: bigint;
};

export const bumpPolicy: BumpPolicy = { bumpsMax: 6, timesFirstMax: 10n };

/** Both fields must grow by so much for a node to take the new bytes in place of the old: most ask for a tenth. */
const STEP_PER_MILLE = 125n;

export type StuckGroup = {
  /** What the first attempt and the newest offer. */
  first: EvmFees;
  newest: EvmFees;
  /** How many attempts there are. */
  attempts: number;
  /** The chain waits for this one: those behind it cannot be mined before it. */
  isNext: boolean;
};

/**
 * The fees of the next attempt, or undefined when there is to be none: what waits behind others and offers what is
 * usual now is not what is stuck, and beyond the caps an operator must decide.
 */
export function bumpedFees(
  { first, newest, attempts, isNext }: StuckGroup,
  usual: EvmFees,
  { bumpsMax, timesFirstMax }: BumpPolicy = bumpPolicy,
): EvmFees | undefined {
  const offersEnough = newest.maxFeePerGas >= usual.maxFeePerGas;
  if (attempts > bumpsMax || (!isNext && offersEnough)) return undefined;
  const cap = {
    maxFeePerGas: first.maxFeePerGas * timesFirstMax,
    maxPriorityFeePerGas: first.maxPriorityFeePerGas * timesFirstMax,
  };
  const maxFeePerGas = raised(newest.maxFeePerGas, usual.maxFeePerGas, cap.maxFeePerGas);
  const tip = raised(newest.maxPriorityFeePerGas, usual.maxPriorityFeePerGas, cap.maxPriorityFeePerGas);
  if (maxFeePerGas === undefined || tip === undefined) return undefined;
  // The tip is a part of the whole.
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

/** At least a step more, what is usual if that is more, and never beyond the cap. */
function raised(offered: bigint, usual: bigint, cap: bigint): bigint | undefined {
  const step = offered + (offered * STEP_PER_MILLE + 999n) / 1_000n;
  if (step > cap) return undefined;
  return usual > step ? least(usual, cap) : step;
}

function least(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}
