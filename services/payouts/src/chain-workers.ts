import type { ChainKind } from '@quittance/shared/assets';
import type { Db, Trx } from '@quittance/shared/db';
import type { Lease } from '@quittance/shared/lease';
import type { AccountChainDriver, AccountChainPorts } from './operations/account-chain/driver.ts';
import { evmDriver, readHistory } from './operations/account-chain/evm-driver.ts';
import { followTransactions } from './operations/account-chain/follow-transactions.ts';
import { payReserved } from './operations/account-chain/pay-reserved.ts';
import { solanaDriver } from './operations/account-chain/solana-driver.ts';
import { unknownHistory } from './operations/account-chain/solana-history.ts';
import { sweepEconomical } from './operations/account-chain/sweep-economical.ts';
import { followGroups, settleMined } from './operations/bitcoin/follow-groups.ts';
import { unknownSpends } from './operations/bitcoin/missing-utxos.ts';
import { payBatch } from './operations/bitcoin/pay-batch.ts';
import { watchHotAddress } from './operations/bitcoin/watch-hot-address.ts';
import { reportSigningPaused } from './operations/signing-pause.ts';
import type { ChainPorts } from './ports.ts';
import { insertDepositUtxos, reverseDepositUtxos } from './store/deposit-utxos.ts';
import type { Transaction } from './store/transaction-rows.ts';
import type { SettledDeposit } from './store/unswept-deposits.ts';

/** How money leaves on the chains of one kind, and what is kept of the money that comes in there. */
export type ChainWorker<K extends ChainKind> = {
  /**
   * One round: follows what is signed, then pays. Called with the lease of the chain's hot
   * wallet, on the right network and with the right wallet; nothing is kept in memory between rounds.
   * @returns how much was moved on; 0 means wait.
   */
  run(ports: ChainPorts<K>, lease: Lease): Promise<number>;
  /**
   * Why nothing may be signed at the moment, beside a seed mismatch or network; asked before every round. What was
   * signed is followed all the same, so `run` is called, and asks again before it signs.
   */
  signingPauseReason?(ports: ChainPorts<K>): Promise<string | undefined>;
  /**
   * An attempt of a group that has ended is in a block that may still be dropped: mostly the one that it ended with,
   * but another one can have taken its place. Brings what this kind keeps in line with it. Called repeatedly.
   */
  alignWithMined?(db: Db, mined: Transaction): Promise<void>;
  /**
   * The node knows nothing of a transaction whose block was final: whether it may be in the chain all the same, because
   * nodes of this kind forget old ones. Kinds whose nodes never do leave this out.
   */
  mayBePruned?(ports: ChainPorts<K>, transaction: Transaction): Promise<boolean>;
  /**
   * Deposits on chains of this kind were written down as unswept deposits: what this kind keeps beside that. They may be told of
   * after their reversal.
   */
  recordDeposits?(trx: Trx, deposits: readonly SettledDeposit[]): Promise<void>;
  /** The same for reversed deposits. The reversal may come before the deposit itself. */
  reverseDeposits?(trx: Trx, deposits: readonly SettledDeposit[]): Promise<void>;
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
    // Settled deposits are outputs that can be spent.
    recordDeposits: insertDepositUtxos,
    async reverseDeposits(trx, deposits) {
      await insertDepositUtxos(trx, deposits);
      await reverseDepositUtxos(
        trx,
        deposits.map(({ depositId }) => depositId),
      );
    },
  },

  evm: {
    signingPauseReason: async (ports) => (await readHistory(ports)).unknown,
    run: (ports, lease) => runAccountChain(ports, lease, evmDriver(ports, lease)),
    // Nodes prune receipts. A nonce that the chain has used is no gap.
    mayBePruned: async ({ sender }, { wallet, nonce }) =>
      nonce !== null && (await sender.nonce(wallet, 'latest')) > nonce,
  },

  solana: {
    signingPauseReason: unknownHistory,
    run: (ports, lease) => runAccountChain(ports, lease, solanaDriver(ports, lease)),
    // Nodes keep signatures for a few days. Nothing later waits for one that is missing.
    mayBePruned: async () => true,
  },
};

/** One round on an account chain: follows what is signed, then pays and sweeps. */
async function runAccountChain(
  ports: AccountChainPorts,
  lease: Lease,
  driver: AccountChainDriver,
): Promise<number> {
  const followed = await followTransactions(ports, lease, driver);
  const { moved, isReady } = await driver.prepare();
  if (ports.signingPause.reason !== undefined) reportSigningPaused(ports);
  if (!isReady) return followed + moved;
  const paid = await payReserved(ports, lease, driver);
  return followed + moved + paid + (await sweepEconomical(ports, lease, driver));
}
