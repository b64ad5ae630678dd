import type { Deposit } from './deposit.ts';

/** A payment as a block shows it when the block is read again. */
export type PaymentReport = Pick<Deposit, 'outpoint' | 'asset' | 'address' | 'amount' | 'blockHash'>;

/** Which of the node's two answers is right: the earlier one, by which the deposit was recorded, or the later one. */
export type Resolution = 'earlier' | 'later' | 'unresolved';

type Known = PaymentReport & Pick<Deposit, 'state'>;

/**
 * Decides about a contradicted payment after its two blocks were read again: a payment is in one block, with one
 * content. If one block has it now, that is right; if both or none have it, the contradiction stays. A credited
 * deposit may move to another block; a content that differs from what was credited is for an operator to judge.
 */
export function resolveContradiction(known: Known, reports: readonly PaymentReport[]): Resolution {
  const statements = new Map(
    reports
      .filter(({ outpoint }) => outpoint === known.outpoint)
      .map((one) => [[one.blockHash, one.asset, one.address, one.amount].join(' '), one]),
  );
  const [only, ...others] = statements.values();
  if (only === undefined || others.length > 0) return 'unresolved';
  const isSame = only.asset === known.asset && only.address === known.address && only.amount === known.amount;
  if (isSame && only.blockHash === known.blockHash) return 'earlier';
  return isSame || known.state === 'seen' ? 'later' : 'unresolved';
}
