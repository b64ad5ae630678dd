import type { AssetSymbol } from '@quittance/shared/assets';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';

/**
 * The state of a deposit. `seen`: in the chain. `settled`: final, and reported to the ledger. `dropped`: its block
 * left the chain before it was settled. `missing`: its block left the chain after it was settled, and may come back.
 * `reversed`: it did not come back in time, and the ledger was told.
 */
export const depositStates = ['seen', 'settled', 'dropped', 'missing', 'reversed'] as const;
export type DepositState = (typeof depositStates)[number];

/** The state after the block left the chain, and after the deposit is in a block again. */
export const onDrop = { seen: 'dropped', settled: 'missing' } as const;
const onReturn = { dropped: 'seen', missing: 'settled' } as const;

/** `credit` goes to the merchant's balance, `unresolved` waits for the merchant's decision. */
export type Disposition = 'credit' | 'unresolved';

export type Deposit = {
  id: DepositId;
  outpoint: string;
  invoiceId: InvoiceId;
  asset: AssetSymbol;
  address: string;
  derivationIndex: number;
  amount: Units;
  txHash: string | null;
  outputIndex: number;
  /** The block that has it, or the last one that had it. */
  blockHeight: number;
  blockHash: string;
  /** The earlier of the first sight and the time of its first block. */
  firstSeenAt: Date;
  minConfirmations: number;
  state: DepositState;
  /** An open contradiction exists: the deposit is not settled, however deep it is. */
  isHeld: boolean;
  /** The height of the chain when its block was dropped. */
  droppedHeight: number | null;
  confirmedAt: Date | null;
  disposition: Disposition | null;
  creditedAt: Date | null;
};

/** Whether a block of the chain has it. */
export const isInBlock = ({ state }: Pick<Deposit, 'state'>): boolean =>
  state === 'seen' || state === 'settled';

/** The number of blocks from its own to `height`; 0 while no block has it. */
export function confirmationsOf(deposit: Pick<Deposit, 'state' | 'blockHeight'>, height: number): number {
  if (!isInBlock(deposit)) return 0;
  return Math.max(0, height - deposit.blockHeight + 1);
}

/** Whether it has enough confirmations and no open contradiction. */
export const isFinal = (
  deposit: Pick<Deposit, 'state' | 'blockHeight' | 'minConfirmations' | 'isHeld'>,
  height: number,
): boolean =>
  deposit.state !== 'seen' ||
  (!deposit.isHeld && confirmationsOf(deposit, height) >= deposit.minConfirmations);

/** The height at which a deposit without a block is given up. */
export const givenUpAt = (droppedHeight: number, minConfirmations: number): number =>
  droppedHeight + minConfirmations;

export const earlier = (a: Date, b: Date): Date => (a.getTime() <= b.getTime() ? a : b);

/** What a block says of a payment. */
export type PaymentReport = Pick<Deposit, 'outpoint' | 'asset' | 'address' | 'amount' | 'blockHash'>;

/** A payment to one of our addresses, as its block shows it. */
export type BlockPayment = PaymentReport & { blockHeight: number; seenAt: Date };

/** What a payment is matched with. */
export type KnownDeposit = PaymentReport & Pick<Deposit, 'id' | 'state' | 'firstSeenAt'>;

const haveSameContents = (a: PaymentReport, b: PaymentReport): boolean =>
  a.outpoint === b.outpoint && a.asset === b.asset && a.address === b.address && a.amount === b.amount;

export type DepositMatch =
  /** Never seen, or reversed before: a new deposit. */
  | { as: 'new'; firstSeenAt: Date }
  /** The same payment is already recorded. */
  | { as: 'known' }
  /** A dropped or missing deposit is in a block again. */
  | { as: 'returned'; deposit: DepositId; state: 'seen' | 'settled'; firstSeenAt: Date }
  /** Already recorded in another block or with other contents: one of the node's two answers is wrong. */
  | { as: 'contradicted'; deposit: DepositId };

/**
 * Matches a payment of a block with the known deposits. A transaction that is mined again may do something else,
 * because a contract decides again: the same outpoint with other contents is another deposit. A payment in the chain
 * cannot change its contents, so that is a contradiction.
 */
export function matchDeposit(mined: BlockPayment, known: readonly KnownDeposit[]): DepositMatch {
  const same = known.filter((deposit) => haveSameContents(deposit, mined));
  // A payment that was made in time stays in time when its block is replaced.
  const firstSeenAt = same.reduce((first, deposit) => earlier(first, deposit.firstSeenAt), mined.seenAt);
  for (const deposit of known) {
    if (deposit.outpoint !== mined.outpoint || !isInBlock(deposit)) continue;
    if (deposit.blockHash === mined.blockHash && same.includes(deposit)) return { as: 'known' };
    return { as: 'contradicted', deposit: deposit.id };
  }
  for (const deposit of same) {
    if (deposit.state === 'dropped' || deposit.state === 'missing') {
      return { as: 'returned', deposit: deposit.id, state: onReturn[deposit.state], firstSeenAt };
    }
  }
  return { as: 'new', firstSeenAt };
}

/** Which of the node's two answers is right: the earlier one, by which the deposit was recorded, or the later one. */
export type Resolution = 'earlier' | 'later' | 'unresolved';

/**
 * Decides about a contradicted payment after its two blocks were read again: a payment is in one block, with one
 * content. If one block has it now, that is right; if both or none have it, the contradiction stays. A credited
 * deposit may move to another block; a content that differs from what was credited is for an operator to judge.
 */
export function resolveContradiction(
  known: PaymentReport & Pick<Deposit, 'state'>,
  reports: readonly PaymentReport[],
): Resolution {
  const statements = new Map(
    reports
      .filter(({ outpoint }) => outpoint === known.outpoint)
      .map((one) => [[one.blockHash, one.asset, one.address, one.amount].join(' '), one]),
  );
  const [only, ...others] = statements.values();
  if (only === undefined || others.length > 0) return 'unresolved';
  const isSame = haveSameContents(only, known);
  if (isSame && only.blockHash === known.blockHash) return 'earlier';
  return isSame || known.state === 'seen' ? 'later' : 'unresolved';
}
