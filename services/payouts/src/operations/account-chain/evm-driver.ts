import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import { assets } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { units } from '@quittance/shared/money';
import type { EvmPorts } from '../../ports.ts';
import type { AccountChainDriver, ChainTerms } from './driver.ts';
import { bumpStuck } from './evm-bump.ts';
import { noteGap, openWallet, readHistory, sweptWhileReading } from './evm-nonces.ts';
import { NATIVE_SWEEP_GAS, signSweepOf, signTransfer, sweepTerms, withNextNonce } from './evm-signing.ts';
import { trackNonces } from './evm-tracking.ts';
import { reportMissing } from './sweep.ts';

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
        signTransfer(ports, payout, nonce, { gas, fees, authorization: undefined }),
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
