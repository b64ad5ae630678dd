import type { SenderOf } from '@quittance/chains/registry';
import type { AssetSymbol, Chain, ChainKind, ChainOf } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { QuoteBoard } from '@quittance/shared/quotes';
import type { Secret } from '@quittance/shared/secret';
import type { ThrottledLog } from '@quittance/shared/throttled-log';
import type { GracePeriods } from './domain/transaction-state.ts';
import type { Stalled } from './store/payouts.ts';

/** Why nothing is signed at the moment although the node answers: the wrong network, a seed mismatch, or lost commits. */
export type SigningPause = { reason: string | undefined };

/** A chain that payouts leave on, its sender, and why signing is paused there. */
export type PayoutChain<K extends ChainKind = ChainKind> = {
  [Kind in K]: {
    kind: Kind;
    chain: ChainOf<Kind>;
    sender: SenderOf<Kind>;
    /** Of this chain alone: the others go on. */
    signingPause: SigningPause;
    /** What can be paid there, as it is configured. */
    assets: readonly AssetSymbol[];
    /** A recipient's address as it is stored and compared; undefined when it is none of this chain and network. */
    checkAddress: (text: string) => string | undefined;
  };
}[K];

export type Settings = {
  /** Tells this process from the other replicas: leases are held under this name. */
  replica: string;
  /** Signs what the gateway says about whose request it is. */
  identitySecret: Secret;
  /** Where merchants reach the API: the lists' links start with it. */
  publicUrl: string;
  chainWorkerEveryMs: number;
  /** How long after a replica died another one takes over its chains. */
  leaseMs: number;
  gracePeriods: GracePeriods;
};

/** Everything an operation may need from the outside; each takes the part it uses. */
export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  random: Random;
  logger: Logger;
  throttledLog: ThrottledLog;
  quotes: Pick<QuoteBoard, 'latest' | 'fresh'>;
  /** Those that are configured. */
  chains: ReadonlyMap<Chain, PayoutChain>;
  /** Payouts without progress, by chain, as this replica has found them last. */
  stalled: Map<Chain, Stalled>;
  settings: Settings;
  /** Wakes the relay: call it after a commit that wrote to the outbox. */
  wakeRelay: () => void;
};

/** What the chain worker of one chain works with: everything, and that chain; of its assets those that are not halted. */
export type ChainPorts<K extends ChainKind = ChainKind> = Omit<Ports, 'chains'> & PayoutChain<K>;
export type EvmPorts = ChainPorts<'evm'>;
export type BitcoinPorts = ChainPorts<'bitcoin'>;
export type SolanaPorts = ChainPorts<'solana'>;
