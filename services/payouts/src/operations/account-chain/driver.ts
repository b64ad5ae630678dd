import type { AssetSymbol } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import type { ChainPorts } from '../../ports.ts';
import type { Payout } from '../../store/payouts.ts';
import type { NewTransaction, ReplacementGroup } from '../../store/transactions.ts';
import type { UnsweptDeposits } from '../../store/unswept-deposits.ts';

export type AccountChainPorts = ChainPorts<'evm' | 'solana'>;

/** A signed first attempt: what is stored of it beside what every chain stores. */
type SignedDraft = Pick<
  NewTransaction,
  'signed' | 'wallet' | 'amount' | 'nonce' | 'validToHeight' | 'finalHeightWhenSigned' | 'terms'
>;

/**
 * Signs inside the database transaction that stores the bytes. It asks no node. Undefined when nothing is to be signed.
 */
export type Draft = (trx: Trx) => Promise<SignedDraft | undefined>;

/** A transfer that the node would accept now. */
export type Transfer = { fee: Units; draft: () => Promise<Draft> };

/** The current fees of transfers and sweeps, and how they are signed with these fees. */
export type ChainTerms = {
  /** The highest fee that a transfer is expected to take, before the node has estimated it. */
  transferFee(asset: AssetSymbol): Units;
  /** `refused`: the recipient can be paid neither now nor later. Throws when the node cannot tell. */
  tryTransfer(payout: Payout): Promise<Transfer | 'refused'>;
  /** `fee`: the whole fee. `hotPays`: the highest fee that the hot wallet pays for a token sweep. */
  sweepFee(asset: AssetSymbol): { fee: Units; hotPays: Units };
  /**
   * Undefined when the deposit cannot be swept now.
   * @param hotFree what the hot wallet can spare for fees
   */
  draftSweep(unswept: UnsweptDeposits, hotFree: bigint): Promise<Draft | undefined>;
};

/** What differs between account chains. A driver lives for one round. */
export type AccountChainDriver = {
  /**
   * Prepares to follow a wallet's open transactions. The first returned function asks the node about one group, and
   * several may run at once. The second acts on the answer, one group after another, and returns whether the group moved
   * on. Undefined when the node does not answer for the wallet.
   */
  track(
    wallet: string,
    open: readonly ReplacementGroup[],
  ): Promise<((group: ReplacementGroup) => Promise<() => Promise<boolean>>) | undefined>;
  /** What comes before new payments: replacements, and whether new payments may be planned at all. */
  prepare(): Promise<{ moved: number; isReady: boolean }>;
  /** Whether the hot wallet can sign its next transaction. */
  canSign(): Promise<boolean>;
  /**
   * Amounts in the hot wallet's balances that are not available. Called before the balances are read, its result after.
   */
  deductions(): Promise<() => Promise<readonly { asset: AssetSymbol; amount: Units }[]>>;
  terms(): Promise<ChainTerms>;
};
