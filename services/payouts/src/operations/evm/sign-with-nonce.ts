import type { EvmFees, SignedTransaction } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import { insertSigned, type NewTransaction, type Transaction } from '../../store-transactions.ts';
import { takeNonce } from '../../store-wallets.ts';

const digits = z.string().regex(/^\d+$/).transform(BigInt);

/** What a transaction was signed from, beside what it pays: the next attempt of its family is signed from it. */
const termsSchema = z.object({
  gas: digits,
  max_fee: digits,
  max_tip: digits,
  /** Of a token sweep: the token takes each authorization once. */
  authorization: z.string().optional(),
});
export type Terms = { gas: bigint; fees: EvmFees; authorization?: string | undefined };

export function readTerms(stored: unknown): Terms | undefined {
  if (stored === null) return undefined;
  const { gas, max_fee, max_tip, authorization } = termsSchema.parse(stored);
  return { gas, fees: { maxFeePerGas: max_fee, maxPriorityFeePerGas: max_tip }, authorization };
}

export const writeTerms = ({ gas, fees, authorization }: Terms): object => ({
  gas: gas.toString(),
  max_fee: fees.maxFeePerGas.toString(),
  max_tip: fees.maxPriorityFeePerGas.toString(),
  ...(authorization === undefined ? {} : { authorization }),
});

export type Signed = { signed: SignedTransaction; amount: Units; terms: Terms };
export type FirstOrder = Omit<
  NewTransaction,
  'after' | 'nonce' | 'signed' | 'amount' | 'terms' | 'validToHeight'
> & { chain: Chain };

/**
 * Takes the wallet's next nonce, signs with it and stores the bytes: the only place that gives out nonces, so
 * that one is used exactly when the transaction commits. `sign` does not touch the network; when it answers
 * undefined, the caller must roll back.
 */
export async function signWithNextNonce(
  trx: Trx,
  order: FirstOrder,
  sign: (nonce: number) => Promise<Signed | undefined>,
): Promise<Transaction | undefined> {
  const nonce = await takeNonce(trx, order.chain, order.wallet);
  const made = await sign(nonce);
  if (made === undefined) return undefined;
  const terms = writeTerms(made.terms);
  return insertSigned(trx, { ...order, ...made, nonce, terms, after: undefined, validToHeight: null });
}
