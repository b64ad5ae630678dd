import type { Units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import type { MerchantBucket } from './posting.ts';

/**
 * A deposit in suspense belongs to no balance until its merchant decides; the API calls it unresolved. `returning`: a
 * payout is to refund it, and holds its money. A reorganisation can reverse it in every state, and that is final.
 */
export const suspenseMoves = {
  open: ['accepted', 'returning', 'reversed'],
  accepted: ['reversed'],
  returning: ['returned', 'open', 'reversed'],
  returned: ['reversed'],
  reversed: [],
} as const satisfies Record<string, readonly string[]>;

export type SuspenseState = keyof typeof suspenseMoves;
export const suspenseStates = Object.keys(suspenseMoves) as [SuspenseState, ...SuspenseState[]];

/** What became of a deposit in suspense, and how much of it is left; nulls when it went to the balance. */
export type Suspense = { state: SuspenseState; left: Units } | { state: null; left: null };

/**
 * Where a booked deposit's money is now, and how much of it is there: what a reversal can take back. Another
 * deposit's money is never taken from `unresolved`, nor what payouts hold.
 */
export function remainderOf(
  { state, left }: Suspense,
  available: Units,
): { bucket: MerchantBucket; amount: Units } {
  switch (state) {
    case null:
      return { bucket: 'available', amount: available };
    case 'open':
      return { bucket: 'unresolved', amount: left };
    case 'accepted':
      return { bucket: 'available', amount: available < left ? available : left };
    case 'returning':
    case 'returned':
    case 'reversed':
      return { bucket: 'unresolved', amount: 0n as Units };
    default:
      return assertNever(state);
  }
}
