import type { SenderOf } from '@quittance/chains/registry';
import type { AssetSymbol, Chain, ChainKind, ChainOf } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { GatewayPublicKeys } from '@quittance/shared/gateway-keys';
import type { Random } from '@quittance/shared/ids';
import type { Logger, ThrottledLog } from '@quittance/shared/logger';
import type { FiatRateBoard, QuoteBoard } from '@quittance/shared/quotes';
import type { Secret } from '@quittance/shared/secret';
import type { Tracer } from '@quittance/shared/traces';
import type { GracePeriods } from './domain/states.ts';
import type { Stalled } from './store/payouts.ts';
import type { TransactionSigner } from './transaction-signer.ts';

/** Why signing is paused although the node answers: the wrong network, another hot wallet, or lost commits. */
export type SigningPause = { reason: string | undefined };

/** A chain that payouts leave on, its sender, and why signing is paused there. */
export type PayoutChain<K extends ChainKind = ChainKind> = {
  [Kind in K]: {
    kind: Kind;
    chain: ChainOf<Kind>;
    sender: SenderOf<Kind>;
    /** Of this chain alone. */
    signingPause: SigningPause;
    /** The configured assets that can be paid there. */
    assets: readonly AssetSymbol[];
    /** The canonical form of a recipient's address; undefined when it is not valid on this chain and network. */
    checkAddress: (text: string) => string | undefined;
    /** The page of a transaction in a block explorer; null where none is known. */
    explorerUrl: (txHash: string) => string | null;
  };
}[K];

export type Settings = {
  /** Tells this process from the other replicas: leases are held under this name. */
  replica: string;
  /** By these it checks what the gateway asserts about a request. */
  gatewayKeys: GatewayPublicKeys;
  /** The tokens of claim links are derived from it. */
  claimLinksSecret: Secret;
  /** Where merchants reach the API: the lists' links start with it. */
  publicUrl: string;
  chainWorkerEveryMs: number;
  /** How long after a replica died another one takes over its chains. */
  leaseMs: number;
  gracePeriods: GracePeriods;
};

export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Records the steps of payments and payouts, where traces are on. */
  tracer: Tracer;
  throttledLog: ThrottledLog;
  /** It has the keys. */
  signer: TransactionSigner;
  quotes: Pick<QuoteBoard, 'latest' | 'fresh'>;
  fiatRates: Pick<FiatRateBoard, 'fresh'>;
  /** The configured chains. */
  chains: ReadonlyMap<Chain, PayoutChain>;
  /** Payouts without progress, by chain, as this replica has found them last. */
  stalled: Map<Chain, Stalled>;
  settings: Settings;
  /** Wakes the relay: call it after a commit that wrote to the outbox. */
  wakeRelay: () => void;
};

/** The ports of the chain worker of one chain. `assets` are those that are not halted. */
export type ChainPorts<K extends ChainKind = ChainKind> = Omit<Ports, 'chains'> & PayoutChain<K>;
export type EvmPorts = ChainPorts<'evm'>;
export type BitcoinPorts = ChainPorts<'bitcoin'>;
export type SolanaPorts = ChainPorts<'solana'>;
