import type { Lifetime } from '@quittance/chains/solana/transaction';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import type { ChainPorts } from '../../ports.ts';
import type { Payout } from '../../store/payouts.ts';
import type { PlannedTransaction } from '../../store/signing-plans.ts';
import type { UnsweptDeposits } from '../../store/unswept-deposits.ts';

export type AccountChainPorts = ChainPorts<'evm' | 'solana'>;

/** What differs between account chains when payouts are paid. `Order`: what a first attempt is signed from. */
export type AccountChainDriver<Order> = {
  /** Whether the hot wallet can sign its next transaction. */
  canSign(): Promise<boolean>;
  /**
   * Whether an unsigned payout may be cancelled, when the wallet can sign: the mempool has no transaction of the wallet that
   * this database does not know. A new signature would conflict with such a transaction, a cancellation would not.
   */
  mayCancel(): Promise<boolean>;
  terms(): Promise<ChainTerms<Order>>;
};

/** The current fees of transfers and sweeps, and how they are signed with these fees. */
export type ChainTerms<Order> = {
  /** The highest fee that a transfer is expected to take, before the node has estimated it. */
  transferFee(asset: AssetSymbol): Units;
  /** `refused`: the recipient can be paid neither now nor later. Throws when the node cannot tell. */
  tryTransfer(payout: Payout): Promise<Transfer<Order> | 'refused'>;
  /** `fee`: the whole fee. `hotPays`: the highest fee that the hot wallet pays for a token sweep. */
  sweepFee(asset: AssetSymbol): { fee: Units; hotPays: Units };
  /**
   * Undefined when the deposit cannot be swept now.
   * @param hotFree what the hot wallet can spare for fees
   */
  orderSweep(unswept: UnsweptDeposits, hotFree: bigint): Promise<Order | undefined>;
  signingTime(): Promise<SigningTime>;
  /** What is going to be signed, complete. Undefined when a sweep is not worth its fee, which takes no nonce. */
  complete(order: Order, time: SigningTime, nonces: Nonces): Promise<FirstAttempt | undefined>;
};

/** The nonces that a plan gives to its transactions, by wallet: the next of each, counted on in the plan. */
export type Nonces = Map<string, number>;

/** A transfer that the node would accept now. */
export type Transfer<Order> = { fee: Units; order: Order };

export type SigningTime = {
  /** The last final block. */
  finalHeightWhenSigned: number;
  /** Solana: how long signed bytes are valid. */
  lifetime: Lifetime | undefined;
};

/** A first attempt: what is planned of it beside what every chain plans. */
export type FirstAttempt = Pick<
  PlannedTransaction<'evm' | 'solana'>,
  'order' | 'wallet' | 'amount' | 'nonce' | 'validToHeight' | 'finalHeightWhenSigned' | 'terms'
>;
