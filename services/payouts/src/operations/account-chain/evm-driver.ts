import type { TokenDomain } from '@quittance/chains/chain';
import { nativeSweepValue } from '@quittance/chains/evm/cost';
import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import type { SigningOrder } from '@quittance/chains/signing';
import { assets } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { z } from 'zod';
import type { EvmPorts } from '../../ports.ts';
import type { Payout } from '../../store/payouts.ts';
import type { UnsweptDeposits } from '../../store/unswept-deposits.ts';
import { nextNonce } from '../../store/wallets.ts';
import type { AccountChainDriver, ChainTerms } from './driver.ts';
import { hasUnknownPending, openWallet } from './evm-nonces.ts';
import { reportMissing } from './sweep.ts';

/** A native transfer to an address without code. */
const NATIVE_SWEEP_GAS = 21_000n;
/** The gas that plans count with until the node estimates a transfer. */
const USUAL_GAS = { native: 21_000n, token: 90_000n } as const;

const digits = z.string().regex(/^\d+$/).transform(BigInt);

/** What a transaction was signed from, beside what it pays. Its replacement is signed from the same. */
const termsSchema = z
  .object({
    gas: digits,
    max_fee: digits,
    max_tip: digits,
    /** Of a token sweep. The token contract accepts each authorization once. */
    authorization: z.string().optional(),
  })
  .transform(({ gas, max_fee: maxFeePerGas, max_tip: maxPriorityFeePerGas, authorization }) => {
    return { gas, fees: { maxFeePerGas, maxPriorityFeePerGas }, authorization };
  });
type EvmTerms = z.output<typeof termsSchema>;

export const readEvmTerms = (stored: unknown): EvmTerms | undefined =>
  stored === null ? undefined : termsSchema.parse(stored);

const writeEvmTerms = ({ gas, fees, authorization }: EvmTerms): z.input<typeof termsSchema> => ({
  gas: gas.toString(),
  max_fee: fees.maxFeePerGas.toString(),
  max_tip: fees.maxPriorityFeePerGas.toString(),
  authorization,
});

/** What a transaction is signed from, beside its nonce. */
type EvmOrder = { terms: EvmTerms } & (
  | { transfer: Pick<Payout, 'asset' | 'address' | 'amount'> }
  | {
      sweep: UnsweptDeposits;
      /** Of a token sweep. */
      domain: TokenDomain | undefined;
    }
);

/** EVM chains: every transaction of a wallet has a nonce, and they are mined in that order. */
export const evmDriver = (ports: EvmPorts, lease: Lease): AccountChainDriver<EvmOrder> => ({
  canSign: () => openWallet(ports, lease, ports.sender.hotAddress),
  mayCancel: async () => !(await hasUnknownPending(ports)),
  terms: () => termsNow(ports, lease),
});

async function termsNow(ports: EvmPorts, lease: Lease): Promise<ChainTerms<EvmOrder>> {
  const { db, chain, sender, random } = ports;
  const fees = await sender.fees();
  const finalHeightWhenSigned = await sender.finalizedHeight();
  const feeOf = (gas: bigint) => units(gas * fees.maxFeePerGas);
  return {
    transferFee: (asset) => feeOf(USUAL_GAS[assets[asset].type]),

    async tryTransfer(payout) {
      const gas = await sender.estimateTransfer(payout.asset, payout.address, payout.amount);
      if (gas === 'reverts') return 'refused';
      return { fee: feeOf(gas), order: { transfer: payout, terms: { gas, fees, authorization: undefined } } };
    },

    sweepFee(asset) {
      const fee = feeOf(assets[asset].type === 'native' ? NATIVE_SWEEP_GAS : TOKEN_SWEEP_GAS);
      return { fee, hotPays: fee };
    },

    async orderSweep(sweep) {
      const { asset, address, amount } = sweep;
      const there = await sender.balance(asset, address);
      if (there < amount) return void reportMissing(ports, sweep, there);
      const isNative = assets[asset].type === 'native';
      if (isNative && !(await openWallet(ports, lease, address))) return undefined;
      const authorization = isNative ? undefined : `0x${Buffer.from(random(32)).toString('hex')}`;
      const domain = isNative ? undefined : await sender.tokenDomain(asset);
      return {
        sweep,
        domain,
        terms: { gas: isNative ? NATIVE_SWEEP_GAS : TOKEN_SWEEP_GAS, fees, authorization },
      };
    },

    signingTime: async () => ({ finalHeightWhenSigned, lifetime: undefined }),

    async complete(order, _time, nonces) {
      const wallet = walletOf(ports, order);
      const nonce = nonces.get(wallet) ?? (await nextNonce(db, chain, wallet));
      invariant(nonce !== undefined, `the next nonce of ${wallet} is known`);
      const made = completeOrder(ports, order, nonce);
      if (made === undefined) return undefined;
      nonces.set(wallet, nonce + 1);
      return { ...made, wallet, nonce, finalHeightWhenSigned, validToHeight: null };
    },
  };
}

/** The deposit address itself sends native money; the hot wallet sends and pays for a token sweep (EIP-3009). */
const walletOf = ({ sender }: EvmPorts, order: EvmOrder): string =>
  'sweep' in order && assets[order.sweep.asset].type === 'native' ? order.sweep.address : sender.hotAddress;

/** What is to be signed, what arrives, and its terms. */
type Completed = { order: SigningOrder<'evm'>; amount: Units; terms: object };

/** Undefined when the deposits are no more than the fee. */
export function completeOrder(
  { chain, sender }: Pick<EvmPorts, 'chain' | 'sender'>,
  order: EvmOrder,
  nonce: number,
): Completed | undefined {
  const { gas, fees, authorization: authorizationNonce } = order.terms;
  const terms = writeEvmTerms(order.terms);
  const hot = sender.hotAddress;
  if ('transfer' in order) {
    const { asset, address: to, amount } = order.transfer;
    return { order: { is: 'transfer', hot, asset, to, amount, nonce, gas, fees }, amount, terms };
  }
  const { asset, amount, address, derivationIndex: index } = order.sweep;
  if (assets[asset].type === 'token') {
    const { domain } = order;
    invariant(authorizationNonce !== undefined && domain !== undefined, 'a token sweep is authorized');
    const sweep = { asset, index, address, amount, nonce, authorizationNonce, domain, gas, fees };
    return { order: { is: 'token_sweep', hot, ...sweep }, amount, terms };
  }
  const brings = nativeSweepValue(chain, amount, fees);
  if (brings === undefined) return undefined;
  const sweep = { is: 'native_sweep', hot, index, address, balance: amount, nonce, fees } as const;
  return { order: sweep, amount: brings, terms };
}
