import { WrongNetwork } from '@quittance/chains/chain';
import { remedyOf } from '@quittance/chains/network-check';
import type { AssetSymbol, ChainKind } from '@quittance/shared/assets';
import { CAME_LATE } from '@quittance/shared/commands';
import { type Lease, LeaseLost, releaseLease, takeLease, withLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { ChainPorts, PayoutChain, Ports } from '../ports.ts';
import { haltedAssets } from '../store/halts.ts';
import { hasPlan } from '../store/signing-plans.ts';
import { AssetHalted } from '../store/transactions.ts';
import type { TransactionSigner } from '../transaction-signer.ts';
import type { AccountChainDriver, AccountChainPorts } from './account-chain/driver.ts';
import { bumpStuck } from './account-chain/evm-bump.ts';
import { evmDriver } from './account-chain/evm-driver.ts';
import { noteGap, readHistory } from './account-chain/evm-nonces.ts';
import { evmTracker } from './account-chain/evm-tracking.ts';
import { followTransactions } from './account-chain/follow-transactions.ts';
import { payReserved } from './account-chain/pay-reserved.ts';
import { solanaDriver, unknownHistory } from './account-chain/solana-driver.ts';
import { solanaTracker } from './account-chain/solana-tracking.ts';
import { sweepEconomical } from './account-chain/sweep.ts';
import { unknownSpends, watchHotAddress } from './bitcoin/chain-utxos.ts';
import { followGroups } from './bitcoin/follow-groups.ts';
import { payBatch } from './bitcoin/pay-batch.ts';
import { cancelRequested } from './cancel-requested.ts';
import { finishPlan } from './sign-planned.ts';
import { reportSigningPaused, walletMismatch } from './signing-pause.ts';
import { watchEnded } from './watch-ended.ts';

/** How payouts are paid on the chains of one kind. */
type ChainWorker<K extends ChainKind> = {
  /**
   * One round: follows open transactions, then pays. Called with the lease of the hot wallet, after network and wallet were
   * checked.
   * @returns how much was moved on; 0 means wait.
   */
  run(ports: ChainPorts<K>, lease: Lease): Promise<number>;
  /**
   * Why signing is paused for another reason than the wallet or the network. Asked before every round. `run` is called all
   * the same, because open transactions are followed, and checks the reason before it signs.
   */
  signingPauseReason(ports: ChainPorts<K>): Promise<string | undefined>;
};

const chainWorkers: { readonly [K in ChainKind]: ChainWorker<K> } = {
  bitcoin: {
    signingPauseReason: unknownSpends,
    async run(ports, lease) {
      const followed = await followGroups(ports, lease);
      await watchHotAddress(ports, lease);
      return followed + (await payBatch(ports, lease));
    },
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
  },
};

async function payAndSweep<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  driver: AccountChainDriver<Order>,
): Promise<number> {
  // What is in a plan may be signed already: it is neither cancelled nor planned again.
  if (await hasPlan(ports.db, ports.chain)) return 0;
  const mayCancel = async () => (await driver.canSign()) && (await driver.mayCancel());
  const cancelled = await cancelRequested(ports, lease, mayCancel);
  const paid = await payReserved(ports, lease, driver);
  return cancelled + paid + (await sweepEconomical(ports, lease, driver));
}

export const chainLease = ({ chain, sender }: Pick<PayoutChain, 'chain' | 'sender'>): string =>
  `chain-worker:${chain}:${sender.hotAddress}`;

/**
 * One round of the chain worker of one chain. Only the replica that holds the lease of the hot wallet runs it; signing
 * with a lost lease is refused. A replica without the lease does not ask its node, except while its own signing is
 * paused, to find out when that ends. Nothing is kept in memory between rounds, so that another replica can continue at
 * any time.
 * @returns how much was moved on; 0 means wait.
 */
export async function runChainWorker<K extends ChainKind>(all: Ports, on: PayoutChain<K>): Promise<number> {
  const { db, clock, settings, logger, throttledLog } = all;
  const signer = notingLate(all.signer);
  const ports: ChainPorts<K> = { ...all, ...on, signer };
  const lease = await takeLease(db, chainLease(on), settings.replica, settings.leaseMs);
  if (lease === undefined) {
    if (on.signingPause.reason !== undefined) await isRightWalletAndNetwork(ports);
    return 0;
  }
  let isFit = false;
  const failed = (error: unknown) =>
    throttledLog.log('warn', 'lease', { reason: reason(error) }, 'the lease could not be prolonged');
  try {
    return await withLease({ db, clock, failed }, lease, async () => {
      ports.assets = await notHalted(all, on);
      isFit = await isRightWalletAndNetwork(ports);
      if (!isFit) return 0;
      const finished =
        ports.signingPause.reason === undefined ? await finishPlan(ports as ChainPorts, lease) : 0;
      const moved = await chainWorkers[ports.kind].run(ports, lease);
      await watchEnded(ports);
      return finished + moved;
    });
  } catch (error) {
    if (error instanceof LeaseLost) {
      const message =
        'another replica has taken the lease of the chain worker: what this one wanted to sign is refused';
      logger.warn({ lease: lease.name }, message);
      return 0;
    }
    // Halted between the plan and the signature. The next round skips the asset.
    if (error instanceof AssetHalted) return 0;
    throw error;
  } finally {
    // The node of another replica may answer and be on the right network, and its clock may be right.
    if (!isFit || signer.cameLate()) await releaseLease(db, lease);
  }
}

/** Notes whether the signer has signed nothing because a question came late: this machine's clock may be behind the signer's. */
function notingLate(signer: TransactionSigner): TransactionSigner & { cameLate(): boolean } {
  let cameLate = false;
  return {
    cameLate: () => cameLate,
    async sign(request) {
      const asked = await signer.sign(request);
      cameLate ||= asked.known && asked.reply.refused?.because === CAME_LATE;
      return asked;
    },
  };
}

/** The assets for which may be signed. Transactions of halted assets are still followed and sent again. */
async function notHalted(
  { db, throttledLog }: Ports,
  { chain, assets }: Pick<PayoutChain, 'chain' | 'assets'>,
): Promise<AssetSymbol[]> {
  const halted = await haltedAssets(db);
  const stopped = assets.filter((asset) => halted.has(asset));
  if (stopped.length > 0) {
    const message =
      'payouts of these assets are halted: nothing new is signed until `quittance payouts resume`';
    throttledLog.log('error', `halted.${chain}`, { assets: stopped }, message);
  }
  return assets.filter((asset) => !halted.has(asset));
}

/** Checks the network of the node and the hot wallet before anything is signed. */
async function isRightWalletAndNetwork<K extends ChainKind>(ports: ChainPorts<K>): Promise<boolean> {
  const { sender, signingPause } = ports;
  try {
    await sender.check();
    const mismatch = await walletMismatch(ports, ports);
    signingPause.reason = mismatch ?? (await chainWorkers[ports.kind].signingPauseReason(ports));
    if (mismatch === undefined) return true;
  } catch (error) {
    if (!(error instanceof WrongNetwork)) throw error;
    signingPause.reason = `${error.message}: ${remedyOf(ports.chain)}`;
  }
  reportSigningPaused(ports);
  return false;
}

/** Releases the lease of a chain when this replica stops, so that another one need not wait until it expires. */
export async function handOverChain(
  { db, settings }: Pick<Ports, 'db' | 'settings'>,
  on: Pick<PayoutChain, 'chain' | 'sender'>,
): Promise<void> {
  const lease = await takeLease(db, chainLease(on), settings.replica, settings.leaseMs);
  if (lease !== undefined) await releaseLease(db, lease);
}
