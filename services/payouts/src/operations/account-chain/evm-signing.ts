import type { EvmFees, SignedTransaction } from '@quittance/chains/chain';
import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import { assets } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { z } from 'zod';
import type { EvmPorts } from '../../ports.ts';
import type { Payout } from '../../store/payouts.ts';
import type { UnsweptDeposits } from '../../store/unswept-deposits.ts';
import { takeNonce } from '../../store/wallets.ts';
import type { Draft } from './driver.ts';

/** A native transfer to an address without code. */
export const NATIVE_SWEEP_GAS = 21_000n;

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

/** The terms of the first sweep of a deposit address. */
export function sweepTerms({ random }: EvmPorts, { asset }: UnsweptDeposits, fees: EvmFees): EvmTerms {
  if (assets[asset].type === 'native') return { gas: NATIVE_SWEEP_GAS, fees, authorization: undefined };
  return { gas: TOKEN_SWEEP_GAS, fees, authorization: `0x${Buffer.from(random(32)).toString('hex')}` };
}

/** A signed transaction, what arrives, and its terms. */
type Signing = { signed: SignedTransaction; amount: Units; terms: object };

export async function signTransfer(
  { sender }: EvmPorts,
  { asset, address: to, amount }: Pick<Payout, 'asset' | 'address' | 'amount'>,
  nonce: number,
  terms: EvmTerms,
): Promise<Signing> {
  const { gas, fees } = terms;
  const signed = await sender.signTransfer({ asset, to, amount, nonce, gas, fees });
  return { signed, amount, terms: writeEvmTerms(terms) };
}

/**
 * Signs a sweep. The deposit address itself sends native money; the hot wallet sends and pays for a token sweep
 * (EIP-3009). Undefined when the deposits are no more than the fee.
 */
export async function signSweepOf(
  { sender }: EvmPorts,
  { asset, amount, derivationIndex: index }: UnsweptDeposits,
  nonce: number,
  terms: EvmTerms,
): Promise<Signing | undefined> {
  const { gas, fees, authorization: authorizationNonce } = terms;
  if (assets[asset].type === 'token') {
    invariant(authorizationNonce !== undefined, 'a token sweep is authorized');
    const order = { asset, index, amount, nonce, authorizationNonce, gas, fees };
    return { signed: await sender.signTokenSweep(order), amount, terms: writeEvmTerms(terms) };
  }
  const signed = await sender.signNativeSweep({ index, balance: amount, nonce, fees });
  if (signed === 'not_worth_it') return undefined;
  return { signed, amount: units(amount - signed.maxCost), terms: writeEvmTerms(terms) };
}

/** Takes the wallet's next nonce and signs with it. Only this takes nonces, so one is used exactly when `trx` commits. */
export const withNextNonce =
  (
    chain: EvmPorts['chain'],
    wallet: string,
    finalHeightWhenSigned: number,
    sign: (nonce: number) => Promise<Signing | undefined>,
  ): Draft =>
  async (trx) => {
    const nonce = await takeNonce(trx, chain, wallet);
    const made = await sign(nonce);
    return made && { ...made, wallet, nonce, finalHeightWhenSigned, validToHeight: null };
  };
