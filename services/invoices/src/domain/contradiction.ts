import type { Deposit } from './deposit.ts';

/** What a block tells of a payment, when it is read again. */
export type PaymentReport = Pick<Deposit, 'outpoint' | 'asset' | 'address' | 'amount' | 'blockHash'>;

/** Which of two answers was right: the one the deposit was written by, or the later one. */
export type Resolution = 'earlier' | 'later' | 'unresolved';

type Known = PaymentReport & Pick<Deposit, 'state'>;

/**
 * Decides about a payment that was told twice, once its two blocks were read again: a payment is in one block, with one
 * set of contents. PaymentReport once now, that is the truth; told twice still, or not at all, nobody knows. What the ledger has
 * booked moves to another block by itself; other contents than booked are for an operator to judge.
 */
export function resolveContradiction(known: Known, told: readonly PaymentReport[]): Resolution {
  const statements = new Map(
    told
      .filter(({ outpoint }) => outpoint === known.outpoint)
      .map((one) => [[one.blockHash, one.asset, one.address, one.amount].join(' '), one]),
  );
  const [only, ...others] = statements.values();
  if (only === undefined || others.length > 0) return 'unresolved';
  const isSame = only.asset === known.asset && only.address === known.address && only.amount === known.amount;
  if (isSame && only.blockHash === known.blockHash) return 'earlier';
  return isSame || known.state === 'seen' ? 'later' : 'unresolved';
}
