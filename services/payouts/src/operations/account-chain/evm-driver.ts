import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import { assets } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { units } from '@quittance/shared/money';
import pMap from 'p-map';
import type { EvmPorts } from '../../ports.ts';
import { sweepsOutsideBlocks } from '../../store/open-sums.ts';
import { nextNonce } from '../../store/wallets.ts';
import type { AccountChainDriver, ChainTerms } from './driver.ts';
import { bumpStuck } from './evm-bump.ts';
import { noteGap } from './evm-nonce-gap.ts';
import { openWallet } from './evm-open-wallet.ts';
import { NATIVE_SWEEP_GAS, signSweepOf, signTransfer, sweepTerms, withNextNonce } from './evm-signing.ts';
import { trackNonces } from './evm-tracking.ts';
import { reportMissing } from './sign-sweep.ts';

const CONCURRENT_NONCES = 8;

/** What a transfer is taken to need until its turn comes and the node is asked. */
const USUAL_GAS = { native: 21_000n, token: 90_000n } as const;

/** Ethereum and the networks like it: every transaction of a wallet has a nonce, and is mined in that order. */
export function evmDriver(ports: EvmPorts, lease: Lease): AccountChainDriver {
  const { sender, signingPause } = ports;
  const driver: AccountChainDriver = {
    track: trackNonces(ports, lease),

    async prepare() {
      const { used, unknown } = await readHistory(ports);
      // No nonce is given out while the chain has used others that are not known here.
      signingPause.reason = unknown;
      if (unknown !== undefined) return { moved: 0, isReady: false };
      const moved = await bumpStuck(ports, lease, driver);
      // Before anything is planned: the balance shows the money of what has left the chain, or is of another time.
      const isNodeBehind = await noteGap(ports, sender.hotAddress, used);
      return { moved, isReady: !isNodeBehind };
    },

    canSign: () => openWallet(ports, lease, sender.hotAddress),
    deductions: () => sweptMeanwhile(ports),
    terms: () => termsNow(ports, lease),
  };
  return driver;
}

async function termsNow(ports: EvmPorts, lease: Lease): Promise<ChainTerms> {
  const { chain, sender } = ports;
  const fees = await sender.fees();
  const finalHeight = await sender.finalizedHeight();
  const feeOf = (gas: bigint) => units(gas * fees.maxFeePerGas);
  return {
    transferFee: (asset) => feeOf(USUAL_GAS[assets[asset].type]),

    async tryTransfer(payout) {
      const gas = await sender.estimateTransfer(payout.asset, payout.address, payout.amount);
      if (gas === 'reverts') return 'refused';
      const draft = withNextNonce(chain, sender.hotAddress, finalHeight, (nonce) =>
        signTransfer(ports, payout, nonce, { gas, fees }),
      );
      return { fee: feeOf(gas), draft: async () => draft };
    },

    sweepFee(asset) {
      const fee = feeOf(assets[asset].type === 'native' ? NATIVE_SWEEP_GAS : TOKEN_SWEEP_GAS);
      return { fee, hotPays: fee };
    },

    async draftSweep(unswept) {
      const { asset, address, amount } = unswept;
      const there = await sender.balance(asset, address);
      if (there < amount) return void reportMissing(ports, unswept, there);
      const isNative = assets[asset].type === 'native';
      if (isNative && !(await openWallet(ports, lease, address))) return undefined;
      const terms = sweepTerms(ports, unswept, fees);
      return withNextNonce(chain, isNative ? address : sender.hotAddress, finalHeight, (nonce) =>
        signSweepOf(ports, unswept, nonce, terms),
      );
    },
  };
}

/**
 * A sweep that is mined between the reading of open transactions and of balances would be counted although its block
 * may still be dropped. So a sweep is deducted when the chain has reached its nonce by then, mined or not, and when the
 * node does not tell of its wallet.
 */
async function sweptMeanwhile({ db, chain, sender }: EvmPorts) {
  const sweeps = await sweepsOutsideBlocks(db, chain);
  return async () => {
    const reached = await pMap(
      Map.groupBy(sweeps, ({ wallet }) => wallet),
      async ([wallet, ofWallet]) => {
        const next = await sender.nonce(wallet, 'latest').catch(() => Number.POSITIVE_INFINITY);
        return ofWallet.filter(({ nonce }) => nonce < next);
      },
      { concurrency: CONCURRENT_NONCES },
    );
    return reached.flat();
  };
}

/** `used`: how many nonces of the hot wallet the chain has used. */
export type NonceHistory = { used: number; unknown: string | undefined };

/**
 * How far the chain has come with the hot wallet, and why that must not sign, or undefined when it may: the chain has
 * used nonces that this database never gave out. Either the database has lost commits, and payouts that look unpaid
 * are paid, or another party has the key.
 */
export async function readHistory({
  db,
  chain,
  sender,
}: Pick<EvmPorts, 'db' | 'chain' | 'sender'>): Promise<NonceHistory> {
  // The chain first: what it has of ours was stored before, so that a signature in between does not look unknown.
  const used = await sender.nonce(sender.hotAddress, 'latest');
  const next = await nextNonce(db, chain, sender.hotAddress);
  if (next === undefined || used <= next) return { used, unknown: undefined };
  const unknown = `the chain has transactions of this wallet that this database does not know (${sender.hotAddress}: nonce ${used}, here ${next}): nothing is signed until an operator decides`;
  return { used, unknown };
}
