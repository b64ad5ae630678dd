import type { NetworkCheck } from '@quittance/chains/network-check';
import type { SignerOf } from '@quittance/chains/registry';
import type { SolanaSender } from '@quittance/chains/solana/sender';
import type { AssetSymbol, Chain, ChainKind, ChainOf } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { ReplyOf } from '@quittance/shared/commands';
import type { Db } from '@quittance/shared/db';
import type { Logger, ThrottledLog } from '@quittance/shared/logger';
import type { SigningLimits } from './domain/limits.ts';

/** What is asked of the nodes of Solana: whether a transaction can still be mined. */
export type SolanaNodes = Pick<SolanaSender, 'nonInclusion' | 'finalizedHeight' | 'lifetime'> &
  Pick<NetworkCheck, 'check'>;

/** A chain whose transactions are signed here. */
export type SignerChain<K extends ChainKind = ChainKind> = {
  [Kind in K]: {
    kind: Kind;
    chain: ChainOf<Kind>;
    signer: SignerOf<Kind>;
    /** A KMS does not give the same signature again: what it has signed is kept, and does not tell the recovery phrase. */
    hotKeyIn: 'phrase' | 'kms';
    /** The configured assets. */
    assets: readonly AssetSymbol[];
    /** The canonical form of a recipient's address; undefined when it is not valid on this chain and network. */
    checkAddress: (text: string) => string | undefined;
    /** Of Solana alone: on the other chains the orders themselves tell which exclude each other. */
    nodes: Kind extends 'solana' ? SolanaNodes : undefined;
  };
}[K];

export type Settings = {
  limits: SigningLimits;
  /** How old the last good reconciliation of an asset may be. 0: the auditor is not asked. */
  reconciledWithinMs: number;
};

export type Ports = {
  db: Db;
  /** The ledger is asked over it. */
  bus: Pick<Bus, 'ask'>;
  clock: Clock;
  logger: Logger;
  throttledLog: ThrottledLog;
  /** The configured chains. */
  chains: ReadonlyMap<Chain, SignerChain>;
  /** What the auditor has last found, a moment ago at most; undefined when it does not answer. */
  reconciliation: () => Promise<ReplyOf<'reconciliation.read'>['assets'] | undefined>;
  settings: Settings;
};
