import type { AssetSymbol } from '@quittance/shared/assets';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';

/**
 * Where a deposit stands. `seen`: in the chain. `settled`: final, and the ledger was told. `dropped`: its
 * block left the chain before it was settled. `missing`: its block left the chain after, and it may still
 * come back. `reversed`: it did not come back in time, and the ledger was told.
 */
export const depositStates = ['seen', 'settled', 'dropped', 'missing', 'reversed'] as const;
export type DepositState = (typeof depositStates)[number];

/** The state after its block left the chain, and after it was found in a block again. */
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
  /** Its block, or the last one it was seen in. */
  blockHeight: number;
  blockHash: string;
  /** The earlier of our first sighting and its first block's time. */
  firstSeenAt: Date;
  minConfirmations: number;
  state: DepositState;
  /** The node contradicts itself about it, and that has not ended: it is not settled, however deep it is. */
  isHeld: boolean;
  /** How high the chain was when its block was dropped. */
  droppedHeight: number | null;
  confirmedAt: Date | null;
  disposition: Disposition | null;
  creditedAt: Date | null;
};

/** In how many blocks from its own to `height` it is confirmed; 0 while no block of the chain has it. */
export function confirmationsOf(deposit: Pick<Deposit, 'state' | 'blockHeight'>, height: number): number {
  if (deposit.state !== 'seen' && deposit.state !== 'settled') return 0;
  return Math.max(0, height - deposit.blockHeight + 1);
}

/** Deep enough for good; what its node contradicts itself about is not. */
export const isFinal = (
  deposit: Pick<Deposit, 'state' | 'blockHeight' | 'minConfirmations' | 'isHeld'>,
  height: number,
): boolean =>
  deposit.state !== 'seen' ||
  (!deposit.isHeld && confirmationsOf(deposit, height) >= deposit.minConfirmations);

/** The height at which a deposit that lost its block is given up: so many blocks it has had to come back. */
export const givenUpAt = (droppedHeight: number, minConfirmations: number): number =>
  droppedHeight + minConfirmations;

export const earlier = (a: Date, b: Date): Date => (a.getTime() <= b.getTime() ? a : b);

/** What a block says of a payment to one of our addresses. */
export type BlockPayment = {
  outpoint: string;
  asset: AssetSymbol;
  address: string;
  amount: Units;
  blockHeight: number;
  blockHash: string;
  seenAt: Date;
};

export type DepositMatch =
  /** Never seen, or reversed since: a deposit of its own. */
  | { as: 'new'; firstSeenAt: Date }
  /** In the chain already, exactly so. */
  | { as: 'known' }
  /** A deposit that had lost its block is in one again. */
  | { as: 'returned'; deposit: DepositId; state: 'seen' | 'settled'; firstSeenAt: Date }
  /** In the chain already, in another block or with other contents: one of the two answers of the node is wrong. */
  | { as: 'contradicted'; deposit: DepositId };

/**
 * Tells whether a payment of a block is a deposit we know. The same transaction may do something else when it is mined
 * again (a contract decides anew), so an outpoint with other contents is another deposit; what is in the
 * chain cannot have other contents, and who says so contradicts what was said before.
 */
export function matchDeposit(
  mined: BlockPayment,
  known: readonly Pick<
    Deposit,
    'id' | 'outpoint' | 'asset' | 'address' | 'amount' | 'state' | 'firstSeenAt' | 'blockHash'
  >[],
): DepositMatch {
  const same = known.filter(
    (deposit) =>
      deposit.outpoint === mined.outpoint &&
      deposit.asset === mined.asset &&
      deposit.address === mined.address &&
      deposit.amount === mined.amount,
  );
  // A payment that was made in time stays so when its block is replaced: the first sighting counts.
  const firstSeenAt = same.reduce((first, deposit) => earlier(first, deposit.firstSeenAt), mined.seenAt);
  for (const deposit of known) {
    if (deposit.outpoint !== mined.outpoint) continue;
    if (deposit.state !== 'seen' && deposit.state !== 'settled') continue;
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
