import type { ChainReader } from '@quittance/chains/chain';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { InvoiceId, Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { Units } from '@quittance/shared/money';
import type { QuoteBoard } from '@quittance/shared/quotes';
import type { FullInvoice, NewInvoice } from './store.ts';

/** An address that nobody has been given yet, and the index its key is derived at. */
export type SpareAddress = { address: string; derivationIndex: number };

/** Addresses derived ahead, so that no merchant waits for it. */
export type AddressPool = {
  take(): Promise<SpareAddress>;
  /** Derives until enough are ready; never throws. */
  fill(): Promise<void>;
};

/** A chain that invoices can be paid on. */
export type WatchedChain = {
  chain: Chain;
  reader: ChainReader;
  addresses: AddressPool;
  /** Where to begin at the first start; the node's head when undefined. */
  startHeight?: number | undefined;
  /**
   * A development chain makes no block while nobody asks for one: so long after the head was reached, time
   * counts as having passed there. Undefined for a public chain, where a head that does not move is a node
   * that lags, and payments may be hidden behind it.
   */
  quietMs?: number | undefined;
  /** An address as people see it, with its checksum. */
  show(address: string): string;
  /** What a wallet opens to pay. */
  uri(asset: AssetSymbol, address: string, amount: Units): string;
};

export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  random: Random;
  logger: Logger;
  quotes: Pick<QuoteBoard, 'latest' | 'fresh'>;
  chains: ReadonlyMap<Chain, WatchedChain>;
  /** Where merchants and customers reach us, without a slash at the end. */
  publicUrl: string;
  /** Writes a new invoice, under load together with others. */
  saveInvoice(made: NewInvoice): Promise<void>;
  /** Reads an invoice in full, under load together with others. */
  findInvoice(id: InvoiceId): Promise<FullInvoice | undefined>;
};

export function watched(chains: Ports['chains'], chain: Chain): WatchedChain {
  const found = chains.get(chain);
  if (found === undefined) throw new Error(`the chain ${chain} is not watched`);
  return found;
}
