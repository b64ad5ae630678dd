import type { AssetSymbol } from '@quittance/shared/assets';
import { ExactNumber } from '@quittance/shared/exact-json';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { z } from 'zod';
import { type NativeDebit, type Payment, paymentOf } from '../chain.ts';
import { base58, count, lamports, TOKEN_PROGRAM, tokenUnits } from './rpc.ts';

/** A JSON number that may be longer than a double holds: only one asked for as `exact` is its source text then. */
const balance = z.union([z.number(), z.instanceof(ExactNumber)]);
const tokenBalance = z.object({
  accountIndex: count,
  mint: base58,
  owner: base58.optional(),
  programId: base58.optional(),
  uiTokenAmount: z.object({ amount: tokenUnits }),
});
const meta = z.object({
  // Any form of error; null when there is none.
  err: z.unknown(),
  fee: count,
  preBalances: z.array(balance),
  postBalances: z.array(balance),
  preTokenBalances: z.array(tokenBalance).nullish(),
  postTokenBalances: z.array(tokenBalance).nullish(),
});

/** A transaction of a block, asked for with `transactionDetails: 'accounts'`. Addresses from lookup tables included. */
export const blockTransaction = z.object({
  // Null for a transaction whose effects the node does not have; such a block is not read.
  meta,
  transaction: z.object({
    signatures: z.array(base58).min(1),
    accountKeys: z.array(z.object({ pubkey: base58 })).min(1),
  }),
});
export type BlockTransaction = z.infer<typeof blockTransaction>;

/** A number was longer than a double holds: ask again for exact ones. */
export class Imprecise extends Error {
  override name = 'Imprecise';
}

function exact(value: number | ExactNumber): bigint {
  if (value instanceof ExactNumber) return BigInt(value.source);
  if (!Number.isSafeInteger(value)) throw new Imprecise('more lamports than a double counts');
  return BigInt(value);
}

/**
 * The change of each wallet's balance, not what the instructions asked for. So transfers by other programs, several
 * transfers at once and transfers through a token account of any kind count. A failed transaction, a transfer there and back
 * again, and the loss of a fee payer do not. Rewards are in no transaction.
 */
export function balanceChanges(
  transactions: readonly BlockTransaction[],
  tokens: ReadonlyMap<string, AssetSymbol>,
): { payments: Payment[]; spends: NativeDebit[] } {
  const payments: Payment[] = [];
  const spends: NativeDebit[] = [];
  for (const one of transactions) {
    const txHash = one.transaction.signatures[0] as string;
    const failed = one.meta.err != null;
    for (const { index, address, change } of nativeChanges(one)) {
      if (change < 0n) spends.push({ txHash, address, amount: -change as Units });
      else if (!failed) payments.push(paymentOf(txHash, index, 'SOL', address, change));
    }
    if (failed) continue;
    for (const { index, asset, owner, change } of tokenChanges(one, tokens))
      payments.push(paymentOf(txHash, index, asset, owner, change));
  }
  return { payments, spends };
}

/** Of accounts that hold no tokens: the lamports of those that do are rent, and no wallet's. */
function* nativeChanges({ transaction, meta }: BlockTransaction) {
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = meta;
  const holdTokens = new Set(
    [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])].map(({ accountIndex }) => accountIndex),
  );
  for (const [index, { pubkey }] of transaction.accountKeys.entries()) {
    const [before, after] = [preBalances[index], postBalances[index]];
    if (before === undefined || after === undefined) throw new Imprecise('a balance is missing');
    if (before === after || holdTokens.has(index)) continue;
    const change = exact(after) - exact(before);
    if (change !== 0n) yield { index, address: pubkey, change };
  }
}

/** Gains by owner and mint: what an owner moves between accounts of its own is none. */
function tokenChanges({ meta }: BlockTransaction, tokens: ReadonlyMap<string, AssetSymbol>) {
  const gains = new Map<string, { index: number; asset: AssetSymbol; owner: string; change: bigint }>();
  const add = (balances: typeof meta.postTokenBalances, sign: 1n | -1n) => {
    for (const { accountIndex, mint, owner, programId, uiTokenAmount } of balances ?? []) {
      const asset = tokens.get(mint);
      // An allow-listed mint is one of the Token program (checked at the start), and so are its accounts.
      if (asset === undefined || owner === undefined || (programId ?? TOKEN_PROGRAM) !== TOKEN_PROGRAM)
        continue;
      const key = `${mint} ${owner}`;
      const known = gains.get(key) ?? { index: accountIndex, asset, owner, change: 0n };
      known.change += sign * uiTokenAmount.amount;
      // The first of its accounts after the transaction names the payment; one owner has usually only one.
      if (sign === 1n) known.index = Math.min(known.index, accountIndex);
      gains.set(key, known);
    }
  };
  add(meta.postTokenBalances, 1n);
  add(meta.preTokenBalances, -1n);
  return [...gains.values()].filter(({ change }) => change > 0n);
}

const accountIndices = z.array(z.object({ accountIndex: count })).nullish();
/** The balances before and after a transaction, by the index of the account; in lamports. */
export const transactionBalances = z.object({
  preBalances: z.array(lamports),
  postBalances: z.array(lamports),
  preTokenBalances: accountIndices,
  postTokenBalances: accountIndices,
});
export type TransactionBalances = z.infer<typeof transactionBalances>;

/**
 * The difference of all balances together: only the fee leaves them. The node's own figure is not used, because one development
 * node states it without the priority fee (seen).
 */
export function feeTaken({ preBalances, postBalances }: TransactionBalances): bigint {
  const sum = (balances: readonly bigint[]) => balances.reduce((total, one) => total + one, 0n);
  return sum(preBalances) - sum(postBalances);
}

/**
 * What the accounts for tokens that a transaction opened were given: our own transactions give it themselves. Somebody may
 * have sent lamports to where such an account will be: it takes less then.
 */
export function rentPaid(changes: TransactionBalances): bigint {
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = changes;
  const before = new Set((preTokenBalances ?? []).map(({ accountIndex }) => accountIndex));
  return (postTokenBalances ?? [])
    .filter(({ accountIndex }) => !before.has(accountIndex))
    .reduce((sum, { accountIndex }) => {
      const [from, to] = [preBalances[accountIndex], postBalances[accountIndex]];
      invariant(from !== undefined && to !== undefined, 'every account has its balances');
      return sum + to - from;
    }, 0n);
}
