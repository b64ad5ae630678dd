import type { Units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import type { MerchantBucket } from './posting.ts';

/**
 * What becomes of a deposit that went to no balance. `returning`: a payout is to pay it back, and has it on hold.
 * The chain may take the deposit back in any of them, and that is for good.
 */
export const unresolvedMoves = {
  open: ['accepted', 'returning', 'reversed'],
  accepted: ['reversed'],
  returning: ['returned', 'open', 'reversed'],
  returned: ['reversed'],
  reversed: [],
} as const satisfies Record<string, readonly string[]>;

export type UnresolvedState = keyof typeof unresolvedMoves;
export const unresolvedStates = Object.keys(unresolvedMoves) as [UnresolvedState, ...UnresolvedState[]];

/** Such a deposit: `amount` is what is left of it. */
export type Unresolved = { state: UnresolvedState; amount: Units };

/**
 * Where a booked deposit's money is now, and how much of it is there: what a reversal can take back. Another
 * deposit's money is never taken from `unresolved`, nor what payouts hold.
 */
export function whereItIs(
  unresolved: Unresolved | null,
  available: Units,
): { bucket: MerchantBucket; amount: Units } {
  if (unresolved === null) return { bucket: 'available', amount: available };
  switch (unresolved.state) {
    case 'open':
      return { bucket: 'unresolved', amount: unresolved.amount };
    case 'accepted':
      return {
        bucket: 'available',
        amount: available < unresolved.amount ? available : unresolved.amount,
      };
    case 'returning':
    case 'returned':
    case 'reversed':
      return { bucket: 'unresolved', amount: 0n as Units };
    default:
      return assertNever(unresolved.state);
  }
}
