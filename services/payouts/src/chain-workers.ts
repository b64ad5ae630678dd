import type { ChainKind } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import type { Lease } from '@quittance/shared/lease';
import type { AccountChainDriver, AccountChainPorts } from './operations/account-chain/driver.ts';
import { bumpStuck } from './operations/account-chain/evm-bump.ts';
import { evmDriver } from './operations/account-chain/evm-driver.ts';
import { noteGap, readHistory } from './operations/account-chain/evm-nonces.ts';
import { evmTracker } from './operations/account-chain/evm-tracking.ts';
import { followTransactions } from './operations/account-chain/follow-transactions.ts';
import { payReserved } from './operations/account-chain/pay-reserved.ts';
import { solanaDriver, unknownHistory } from './operations/account-chain/solana-driver.ts';
import { solanaTracker } from './operations/account-chain/solana-tracking.ts';
import { sweepEconomical } from './operations/account-chain/sweep.ts';
import { unknownSpends, watchHotAddress } from './operations/bitcoin/chain-utxos.ts';
import { followGroups, settleMined } from './operations/bitcoin/follow-groups.ts';
import { payBatch } from './operations/bitcoin/pay-batch.ts';
import { reportSigningPaused } from './operations/signing-pause.ts';
import type { ChainPorts } from './ports.ts';
import type { Transaction } from './store/transactions.ts';

/** How payouts are paid on the chains of one kind. */
export type ChainWorker<K extends ChainKind> = {
  /**
   * One round: follows open transactions, then pays. Called with the lease of the hot wallet, after network and seed were
   * checked.
   * @returns how much was moved on; 0 means wait.
   */
  run(ports: ChainPorts<K>, lease: Lease): Promise<number>;
  /**
   * Why signing is paused for another reason than the seed or the network. Asked before every round. `run` is called all
   * the same, because open transactions are followed, and checks the reason before it signs.
   */
  signingPauseReason?(ports: ChainPorts<K>): Promise<string | undefined>;
  /**
   * Updates the tables of this kind to the attempt of an ended group that a block includes. After a reorganisation it may
   * be another attempt than the one that ended the group. Called repeatedly.
   */
  alignWithMined?(db: Db, mined: Transaction): Promise<void>;
  /**
   * Whether a final transaction that the node does not know may be in the chain, because nodes of this kind prune old
   * ones.
   */
  mayBePruned?(ports: ChainPorts<K>, transaction: Transaction): Promise<boolean>;
};

export const chainWorkers: { readonly [K in ChainKind]: ChainWorker<K> } = {
  bitcoin: {
    signingPauseReason: unknownSpends,
    async run(ports, lease) {
      const followed = await followGroups(ports, lease);
      await watchHotAddress(ports, lease);
      return followed + (await payBatch(ports, lease));
    },
    alignWithMined: (db, mined) => db.transaction((trx) => settleMined(trx, mined)),
  },

  evm: {
    signingPauseReason: async (ports) => (await readHistory(ports)).unknown,
    async run(ports, lease) {
      const followed = await followTransactions(ports, lease, evmTracker(ports, lease));
      const { used, unknown } = await readHistory(ports);
      // No nonce is used while the chain has transactions of the wallet that are not known here.
      ports.signingPause.reason = unknown;
      if (unknown !== undefined) {
        reportSigningPaused(ports);
        return followed;
      }
      const bumped = await bumpStuck(ports, lease);
      // Before planning, because the balance of a lagging node, or after a reorganisation, is not the current one.
      const isNodeBehind = await noteGap(ports, ports.sender.hotAddress, used);
      if (isNodeBehind) return followed + bumped;
      return followed + bumped + (await payAndSweep(ports, lease, evmDriver(ports, lease)));
    },
    // Nodes prune receipts. Then the chain has still used the nonce.
    mayBePruned: async ({ sender }, { wallet, nonce }) =>
      nonce !== null && (await sender.nonce(wallet, 'latest')) > nonce,
  },

  solana: {
    signingPauseReason: unknownHistory,
    async run(ports, lease) {
      const followed = await followTransactions(ports, lease, solanaTracker(ports, lease));
      if (ports.signingPause.reason !== undefined) {
        reportSigningPaused(ports);
        return followed;
      }
      return followed + (await payAndSweep(ports, lease, solanaDriver(ports)));
    },
    // Nodes keep signatures for a few days.
    mayBePruned: async () => true,
  },
};

async function payAndSweep<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  driver: AccountChainDriver<Order>,
): Promise<number> {
  const paid = await payReserved(ports, lease, driver);
  return paid + (await sweepEconomical(ports, lease, driver));
}
