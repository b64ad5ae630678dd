import type { ChainKind } from '@quittance/shared/assets';
import type { Db, Trx } from '@quittance/shared/db';
import type { Lease } from '@quittance/shared/lease';
import { bitcoinEngine } from './operations/bitcoin/engine.ts';
import { evmEngine } from './operations/evm/engine.ts';
import { solanaEngine } from './operations/solana/engine.ts';
import type { ChainPorts } from './ports.ts';
import type { Deposit } from './store-holdings.ts';
import type { Transaction } from './store-transactions.ts';

/** How money leaves on the chains of one kind, and what is kept of the money that comes in there. */
export type Engine<K extends ChainKind> = {
  /**
   * One round: what has become of all that was signed, then who is paid next. Called with the lease of the chain's hot
   * wallet, on the right network and with the right wallet; nothing is kept in memory between rounds.
   * @returns how much was moved on; 0 means wait.
   */
  run(ports: ChainPorts<K>, lease: Lease): Promise<number>;
  /**
   * Why nothing may be signed at the moment, beside a strange wallet or network; asked before every round. What was
   * signed is followed all the same, so `run` is called, and asks again before it signs.
   */
  bar?(ports: ChainPorts<K>): Promise<string | undefined>;
  /**
   * An attempt of a family that has ended is in a block that may still be dropped: mostly the one that it ended with,
   * but another one can have taken its place. What this kind keeps is brought in line with it; told again and again.
   */
  standsBy?(db: Db, mined: Transaction): Promise<void>;
  /**
   * The node knows nothing of a transaction whose block was final: whether it may be in the chain all the same, because
   * nodes of this kind forget old ones. Kinds whose nodes never do leave this out.
   */
  mayBeForgotten?(ports: ChainPorts<K>, transaction: Transaction): Promise<boolean>;
  /**
   * Deposits on chains of this kind were written down as holdings: what this kind keeps beside that. They may be told of
   * after their reversal.
   */
  recordDeposits?(trx: Trx, deposits: readonly Deposit[]): Promise<void>;
  /** The same for deposits that are gone; it may be told before the deposit itself. */
  reverseDeposits?(trx: Trx, deposits: readonly Deposit[]): Promise<void>;
};

export const engines: { readonly [K in ChainKind]: Engine<K> } = {
  bitcoin: bitcoinEngine,
  evm: evmEngine,
  solana: solanaEngine,
};
