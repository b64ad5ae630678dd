import type { ChainReader } from '@quittance/chains/chain';
import type { NetworkCheck } from '@quittance/chains/network-check';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { InvoiceId, Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { Units } from '@quittance/shared/money';
import type { QuoteBoard } from '@quittance/shared/quotes';
import type { Secret } from '@quittance/shared/secret';
import type { AddressFilter } from './address-filter.ts';
import type { AddressPool, PoolSettings } from './address-pool.ts';
import type { FullInvoice } from './store/invoice-reads.ts';
import type { NewInvoice } from './store/invoices.ts';

/** What shows whether the key holder has the keys of the addresses that we derive. */
export type DerivedKeys = {
  /** Their first address, canonical. */
  first: string;
  /** What it said when any replica asked it, as this one has read it last. */
  status: {
    /** Why none is given out: it has other keys, or has not said yet whether it has ours. Undefined: it has ours. */
    problem: { reason: string; isKnown: boolean } | undefined;
    /** It has ours: until then it is not asked again. */
    nextCheckAt: Date | undefined;
  };
};

/** A chain that invoices can be paid on. */
export type WatchedChain = {
  chain: Chain;
  /** What can be paid there, as the chain is configured. */
  assets: ReadonlySet<AssetSymbol>;
  reader: ChainReader;
  /** The node's head, when it was asked for last. */
  headHeight?: () => number | undefined;
  /** Whether its node is on the right network. */
  network: NetworkCheck;
  addresses: AddressPool;
  /** Which of a block's addresses need not be looked up. */
  filter: AddressFilter;
  /** For chains whose addresses only the key holder can name: those it named ahead. */
  storedPool?: PoolSettings | undefined;
  /** For chains whose addresses are derived from a public key. */
  keys?: DerivedKeys | undefined;
  /** Where to begin at the first start; the node's head when undefined. */
  startHeight?: number | undefined;
  /**
   * A development chain makes no block while nobody asks for one: so long after the head was reached, time
   * counts as having passed there. Undefined for a public chain, where a head that does not move is a node
   * that lags, and payments may be hidden behind it.
   */
  quietMs?: number | undefined;
  /** A public chain whose newest block is older than this is not seen in full: its node lags. */
  staleMs?: number | undefined;
  /** A public chain makes a block more often than this. */
  gapMs?: number | undefined;
  /** A block of a public chain that is seen so long after its own time was kept back by a node that lags. */
  lateMs?: number | undefined;
  /** When the head was not reached for longer than this, invoices are given the time back. */
  outageMs: number;
  /** What waited for a block counts as gone when it was missing at every look for so long. */
  droppedAfterMs: number;
  /** What a wallet opens to pay. */
  uri(asset: AssetSymbol, address: string, amount: Units): string;
};

export type Settings = {
  /** Tells this process from the other replicas. */
  replica: string;
  /** Signs what the gateway says about whose request it is. */
  identitySecret: Secret;
  /** Where merchants and customers reach us, without a slash at the end. */
  publicUrl: string;
  /** How much less than its amount due makes a new invoice paid, in basis points. */
  toleranceBps: number;
  scanEveryMs: number;
  /** How long after a replica died another one continues scanning its chain. */
  leaseMs: number;
};

export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  random: Random;
  logger: Logger;
  quotes: Pick<QuoteBoard, 'latest' | 'fresh'>;
  chains: ReadonlyMap<Chain, WatchedChain>;
  /** Writes a new invoice, under load together with others. */
  saveInvoice(made: NewInvoice): Promise<void>;
  /** Reads an invoice in full, under load together with others. */
  findInvoice(id: InvoiceId): Promise<FullInvoice | undefined>;
  settings: Settings;
  /** Wakes the relay: call it after a commit that wrote to the outbox. */
  wakeRelay: () => void;
};

export function watched(chains: Ports['chains'], chain: Chain): WatchedChain {
  const found = chains.get(chain);
  if (found === undefined) throw new Error(`the chain ${chain} is not watched`);
  return found;
}
