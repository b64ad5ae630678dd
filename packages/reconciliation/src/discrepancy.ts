import type { AssetSymbol, Chain } from '@quittance/shared/assets';

export type InvariantNumber = `I${number}`;

/** A case in which an invariant is not true. */
export type Discrepancy = {
  /** The invariant's number: what the auditor stores, and an alias of the name. */
  invariant: string;
  name: string;
  meaning: string;
  what: string;
  /** Identifies the discrepancy, and stays the same while money moves on around it. */
  subject: string;
  /** By how much, where that can grow: an operator who acknowledges it acknowledges so much and no more. */
  amount?: bigint;
  /** The asset that is affected; none: all assets, or money is not affected. */
  asset?: AssetSymbol;
  /** The chain whose node showed it. */
  chain?: Chain;
  /** It stands for the discrepancies of its asset that were too many to be named. */
  isTheRest?: true;
  /** It may mean lost money: payouts of the asset, or of all assets when it has none, pause until an operator has looked. */
  pausesPayouts: boolean;
};
