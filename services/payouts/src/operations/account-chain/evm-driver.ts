import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import { assets } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { units } from '@quittance/shared/money';
import pMap from 'p-map';
import type { EvmPorts } from '../../ports.ts';
import { sweepsOutsideBlocks } from '../../store/replacement-groups.ts';
import { nextNonce } from '../../store/wallets.ts';
import type { AccountChainDriver, ChainTerms } from './driver.ts';
import { bumpStuck } from './evm-bump.ts';
import { noteGap, openWallet } from './evm-nonces.ts';
import { NATIVE_SWEEP_GAS, signSweepOf, signTransfer, sweepTerms, withNextNonce } from './evm-signing.ts';
import { trackNonces } from './evm-tracking.ts';
import { reportMissing } from './sweep.ts';

const CONCURRENT_NONCES = 8;

/** The gas that plans count with until the node estimates a transfer. */
const USUAL_GAS = { native: 21_000n, token: 90_000n } as const;

/** EVM chains: every transaction of a wallet has a nonce, and they are mined in that order. */
export function evmDriver(ports: EvmPorts, lease: Lease): AccountChainDriver {
  const { sender, signingPause } = ports;
  const driver: AccountChainDriver = {
    track: trackNonces(ports, lease),

    async prepare() {
      const { used, unknown } = await readHistory(ports);
      // No nonce is used while the chain has transactions of the wallet that are not known here.
      signingPause.reason = unknown;
      if (unknown !== undefined) return { moved: 0, isReady: false };
      const moved = await bumpStuck(ports, lease, driver);
      // Before planning, because the balance of a lagging node, or after a reorganisation, is not the current one.
      const isNodeBehind = await noteGap(ports, sender.hotAddress, used);
      return { moved, isReady: !isNodeBehind };
    },

    canSign: () => openWallet(ports, lease, sender.hotAddress),
    deductions: () => sweptWhileReading(ports),
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
 * A sweep that is mined after open transactions and before balances are read would count although its block can still be
 * dropped. So a sweep is deducted when its nonce is used by then, and when the node does not answer for its wallet.
 */
async function sweptWhileReading({ db, chain, sender }: EvmPorts) {
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
 * How many nonces of the hot wallet the chain has used, and why the wallet must not sign: the chain has used nonces that
 * this database has not. Either the database has lost commits, and payouts that look unpaid are paid, or another party
 * has the key.
 */
export async function readHistory({
  db,
  chain,
  sender,
}: Pick<EvmPorts, 'db' | 'chain' | 'sender'>): Promise<NonceHistory> {
  // The chain is read first. Our transactions are stored before they are sent, so none of them can look unknown.
  const used = await sender.nonce(sender.hotAddress, 'latest');
  const next = await nextNonce(db, chain, sender.hotAddress);
  if (next === undefined || used <= next) return { used, unknown: undefined };
  const unknown = `the chain has transactions of this wallet that this database does not know (${sender.hotAddress}: nonce ${used}, here ${next}): nothing is signed until an operator decides`;
  return { used, unknown };
}
