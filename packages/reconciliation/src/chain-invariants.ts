import type { AssetSymbol } from '@quittance/shared/assets';

/** Invariants between the records and a chain. invariants.ts has those within the records. */
export const chainInvariants = {
  I4: {
    name: 'payout-matches-chain',
    meaning:
      'a payout has exactly one confirmed transaction on its chain when mined, with exact address and amount, none when failed',
  },
  I5: {
    name: 'deposit-matches-chain',
    meaning:
      'every deposit that is settled is on its chain, with exact address, asset and amount, and no address that was given out has more than is booked there',
  },
  I6: {
    name: 'reserves-match-books',
    meaning:
      'what lies on the chain is what is booked and the operator’s funds, to the unit, and what our transactions cost is booked as the chain says',
  },
} as const;

export type ChainDiscrepancy = {
  invariant: keyof typeof chainInvariants;
  what: string;
  asset: AssetSymbol;
  /** Identifies it, and stays the same while money moves on around it. */
  subject: string;
  /** By how much, where that can grow. */
  amount?: bigint;
  /** More is there than is booked: no money is missing, and payouts go on. */
  isExcess?: true;
};
