import { invariant } from '@quittance/shared/result';

/** The balances before and after a transaction, by the index of the account; in lamports. */
export type TransactionBalances = {
  preBalances: readonly bigint[];
  postBalances: readonly bigint[];
  preTokenBalances?: readonly { accountIndex: number }[] | null | undefined;
  postTokenBalances?: readonly { accountIndex: number }[] | null | undefined;
};

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
