import type { Lifetime } from '@quittance/chains/solana/transaction';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import type { ChainPorts } from '../../ports.ts';
import type { Payout } from '../../store/payouts.ts';
import type { NewTransaction } from '../../store/transactions.ts';
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
  /** Asked before the database transaction in which `sign` is called, because that one asks no node. */
  signingTime(): Promise<SigningTime>;
  /** Signs in the database transaction that stores the bytes. Undefined when a sweep is not worth its fee. */
  sign(trx: Trx, order: Order, time: SigningTime): Promise<SignedAttempt | undefined>;
};

/** A transfer that the node would accept now. */
export type Transfer<Order> = { fee: Units; order: Order };

export type SigningTime = {
  /** The last final block. */
  finalHeightWhenSigned: number;
  /** Solana: how long signed bytes are valid. */
  lifetime: Lifetime | undefined;
};

/** A signed first attempt: what is stored of it beside what every chain stores. */
type SignedAttempt = Pick<
  NewTransaction,
  'signed' | 'wallet' | 'amount' | 'nonce' | 'validToHeight' | 'finalHeightWhenSigned' | 'terms'
>;
