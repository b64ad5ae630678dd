import { BalanceSnapshots } from '@quittance/reconciliation/balance-snapshots';
import type { ReconciledChain } from '@quittance/reconciliation/chain-records';
import type { Chain } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { GatewayPublicKeys } from '@quittance/shared/gateway-keys';
import type { Logger } from '@quittance/shared/logger';
import type { Measured } from './domain/operator-funds.ts';

/** What is known of a chain, so that its node gets fewer requests. Losing it costs requests only. */
export type ChainMemory = {
  balances: BalanceSnapshots;
  /** The reserves at the last comparison, without a transaction on its way or with. */
  measured: Measured;
  /** When all addresses are looked at next, where a node can only read all of them at once. */
  addressesAt: Date | undefined;
  lookedAt: Date | undefined;
  unseen: string | undefined;
};

export type Settings = {
  /** Tells this process from the other replicas: the lease is held under this name. */
  replica: string;
  checkEveryMs: number;
  chainsEveryMs: number;
  /** How often every row is checked. */
  wholeEveryMs: number;
  chainDays: number;
  gracePeriodSeconds: number;
};

export const emptyMemory = (): ChainMemory => ({
  balances: new BalanceSnapshots(),
  measured: new Map(),
  addressesAt: undefined,
  lookedAt: undefined,
  unseen: undefined,
});

/** Everything an operation may need from the outside; each takes the part it uses. */
export type Ports = {
  db: Db;
  /** For the queries that read every row: they may take half an hour, and no other query waits for them. */
  slowDb: Pick<Db, 'transaction'>;
  clock: Clock;
  logger: Logger;
  /** The chains whose nodes are asked. */
  chains: readonly ReconciledChain[];
  memory: ReadonlyMap<Chain, ChainMemory>;
  settings: Settings;
  /** By these it checks what the gateway asserts about a request of an operator; undefined: there is no console. */
  gatewayKeys: GatewayPublicKeys | undefined;
  /** Wakes the relay: call it after a commit that wrote to the outbox. */
  wakeRelay: () => void;
};
