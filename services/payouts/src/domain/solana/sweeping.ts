import { type Units, units } from '@quittance/shared/money';

/**
 * How much of a deposit address is swept: what is settled, or all of it when the rest would be less than an account must
 * hold. The rest belongs to deposits whose events have not arrived yet.
 */
export function nativeToSweep(there: Units, settled: Units, rent: Units): Units {
  return there - settled < rent ? there : settled;
}

/**
 * Who pays the fee of a native sweep: the hot wallet if it has enough, otherwise the deposit address. After the fee the
 * address must have no less than an account must hold, or the network refuses it as a payer.
 */
export function whoPays(
  hotFree: bigint,
  there: Units,
  rent: Units,
  fees: { hot: Units; deposit: Units },
): 'hot' | 'deposit' | undefined {
  if (hotFree >= fees.hot) return 'hot';
  return there - fees.deposit >= rent ? 'deposit' : undefined;
}

export type TokenBalance = { address: string; amount: Units };

/** Out of which accounts an amount is taken, in their order; undefined when it is more than all have. */
export function takeFrom(accounts: readonly TokenBalance[], amount: Units): TokenBalance[] | undefined {
  const taken: TokenBalance[] = [];
  let missing: bigint = amount;
  for (const account of accounts) {
    if (missing === 0n) break;
    const some = account.amount < missing ? account.amount : missing;
    taken.push({ address: account.address, amount: units(some) });
    missing -= some;
  }
  return missing === 0n ? taken : undefined;
}
