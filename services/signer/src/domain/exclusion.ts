import type { Chain } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';

export type Input = { outpoint: string; amount: Units };

/** What decides whether a transaction and another one can both be mined. */
export type Exclusive =
  | { kind: 'evm'; chain: Chain; wallet: string; nonce: number }
  | { kind: 'bitcoin'; inputs: readonly Input[] }
  /** `isOver`: the blocks have shown that it can never be mined. */
  | { kind: 'solana'; isOver: boolean };

/**
 * Whether an earlier transaction and the next one can never both be mined.
 *
 * | chain | because |
 * |---|---|
 * | EVM | they share wallet and nonce |
 * | Bitcoin | they share an input |
 * | Solana | the earlier one is over |
 */
export function excludes(earlier: Exclusive, next: Exclusive): boolean {
  switch (earlier.kind) {
    case 'evm':
      return (
        next.kind === 'evm' &&
        next.chain === earlier.chain &&
        next.wallet === earlier.wallet &&
        next.nonce === earlier.nonce
      );
    case 'bitcoin': {
      if (next.kind !== 'bitcoin') return false;
      const spent = new Set(earlier.inputs.map(({ outpoint }) => outpoint));
      return next.inputs.some(({ outpoint }) => spent.has(outpoint));
    }
    case 'solana':
      return next.kind === 'solana' && earlier.isOver;
    default:
      return assertNever(earlier);
  }
}

/**
 * The inputs that are told with another amount than in an earlier order, or twice. A signature is for the amount of each input that it was told:
 * with two of them that were told differently, somebody could give the difference away as a fee.
 */
export function contradictedInputs(inputs: readonly Input[], earlier: readonly Input[]): string[] {
  const amounts = new Map(earlier.map(({ outpoint, amount }) => [outpoint, amount]));
  const seen = new Set<string>();
  return inputs.flatMap(({ outpoint, amount }) => {
    const isRight = (amounts.get(outpoint) ?? amount) === amount && !seen.has(outpoint);
    seen.add(outpoint);
    return isRight ? [] : [outpoint];
  });
}

/** Blocks that another node may have seen before ours. A transaction may be valid for so much longer than ours can tell. */
const AHEAD_MAX = 32;

/**
 * The height after which a transaction of Solana counts as expired. What is told of its blockhash may be too low, which would
 * have it replaced while it can still be mined: it is not believed below what a blockhash of now is valid for.
 */
export const validUntil = (told: number, validToHeightOfNow: number): number =>
  Math.max(told, validToHeightOfNow + AHEAD_MAX);
