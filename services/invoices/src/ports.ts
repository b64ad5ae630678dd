import type { ChainReader, WalletTransfer, WantedPayment } from '@quittance/chains/chain';
import type { NetworkCheck } from '@quittance/chains/network-check';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { GatewayPublicKeys } from '@quittance/shared/gateway-keys';
import type { AccountId, InvoiceId, Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { FiatRateBoard, QuoteBoard } from '@quittance/shared/quotes';
import type { Shop } from '@quittance/shared/shop-page';
import type { Tracer } from '@quittance/shared/traces';
import type { AddressFilter } from './address-filter.ts';
import type { OutageLimits } from './domain/expiry-extension.ts';
import type { StoredSettings } from './domain/invoice-settings.ts';
import type { PageStreams } from './page-streams.ts';
import type { PoolAddress } from './store/addresses.ts';
import type { FullInvoice } from './store/invoice-reads.ts';
import type { NewInvoice } from './store/invoices.ts';

/** Unused addresses, so that no merchant waits for a derivation. */
export type AddressPool = {
  take(): Promise<PoolAddress>;
  /** Fills the pool; never throws. */
  fill(): Promise<void>;
};

/** The pool of stored addresses, for chains whose addresses only the signer can derive. */
export type PoolSettings = {
  /** How many addresses are kept ready. */
  ahead: number;
  /** Whether a text is the canonical form of an address of this chain. */
  isAddress(text: string): boolean;
};

/** Shows whether payouts holds the keys of the addresses that we derive. */
export type DerivedKeys = {
  /** The first derived address, canonical. */
  first: string;
  /** What payouts answered to any replica, as this replica has last read it. */
  status: {
    /** Why no address is given out: payouts has other keys, or has not answered yet. Undefined when the keys match. */
    problem: { reason: string; isKnown: boolean } | undefined;
    /** The keys match: payouts is not asked again before this time. */
    nextCheckAt: Date | undefined;
  };
};

/** A chain that invoices can be paid on. */
export type WatchedChain = OutageLimits & {
  chain: Chain;
  /** The assets that are configured for this chain. */
  assets: ReadonlySet<AssetSymbol>;
  reader: ChainReader;
  /** The height of the node's head at the last request. */
  headHeight?: () => number | undefined;
  /** Whether its node is on the right network. */
  network: NetworkCheck;
  addresses: AddressPool;
  /** Rejects addresses of a block that are not ours without a query. */
  filter: AddressFilter;
  /** For chains whose addresses only the signer can derive: stored addresses are taken from the pool. */
  storedPool?: PoolSettings | undefined;
  /** For chains whose addresses are derived from a public key. */
  keys?: DerivedKeys | undefined;
  /** The height at which the first scan starts. Undefined: see scan-chain.ts. */
  startHeight?: number | undefined;
  /**
   * A development chain makes no block until somebody asks for one. This long after the last sync, time counts as
   * having passed there. Undefined for a public chain: a head that does not move belongs to a node that lags, and may
   * hide payments.
   */
  quietMs?: number | undefined;
  /** When the newest block of a public chain is older than this, its node lags. */
  staleMs?: number | undefined;
  /** A mempool payment is dropped when every read has missed it for this long. */
  droppedAfterMs: number;
  /** The URI that a wallet opens to pay. */
  uri(payment: WantedPayment): string;
  /** What a wallet in the browser is asked to send; undefined on chains where that is not done. */
  walletTransfer?(payment: WantedPayment): WalletTransfer | undefined;
  /** The page of a transaction in a block explorer; null: there is none. */
  explorerUrl?(txHash: string): string | null;
};

export type Settings = {
  /** Tells this process from the other replicas. */
  replica: string;
  /** By these it checks what the gateway asserts about a request. */
  gatewayKeys: GatewayPublicKeys;
  /** Where merchants and customers reach us, without a slash at the end. */
  publicUrl: string;
  /** How much less than its amount due makes a new invoice paid, in basis points. */
  toleranceBps: number;
  scanEveryMs: number;
  /** How often a chain is scanned while no invoice on it waits for a payment. */
  scanIdleEveryMs: number;
  /** How long after a replica died another one continues scanning its chain. */
  leaseMs: number;
};

export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Records the steps of payments and payouts, where traces are on. */
  tracer: Tracer;
  quotes: Pick<QuoteBoard, 'latest' | 'fresh'>;
  /** The rates of the currencies that invoices are priced in. */
  fiatRates: Pick<FiatRateBoard, 'fresh'>;
  chains: ReadonlyMap<Chain, WatchedChain>;
  /** Writes a new invoice; requests at the same moment share a statement. */
  saveInvoice(made: NewInvoice): Promise<void>;
  /** Reads an invoice in full; requests at the same moment share a statement. */
  findInvoice(id: InvoiceId): Promise<FullInvoice | undefined>;
  /** Reads what tells whether the page of an invoice shows something else; requests at the same moment share a statement. */
  pageVersion(id: InvoiceId): Promise<string | undefined>;
  /** The open payment pages that are told of changes. */
  pageStreams: PageStreams;
  /** Reads the settings of an account as they are now; requests at the same moment share a statement. */
  settingsOf(account: AccountId): Promise<StoredSettings>;
  /** Reads what an account shows on the pages of its customers; requests at the same moment share a statement. */
  shopOf(account: AccountId): Promise<Shop>;
  settings: Settings;
  /** Wakes the relay: call it after a commit that wrote to the outbox. */
  wakeRelay: () => void;
};

export function watched(chains: Ports['chains'], chain: Chain): WatchedChain {
  const found = chains.get(chain);
  if (found === undefined) throw new Error(`the chain ${chain} is not configured`);
  return found;
}
