import type { SignedTransaction } from '@quittance/chains/chain';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import { assertMoves } from '../domain/payout-state.ts';
import { type TransactionState, transactionMoves } from '../domain/transaction-state.ts';
import { isHalted } from './halts.ts';
import { maySet, type Transaction, transactionColumns } from './transaction-rows.ts';

const signed = bulk(
  {
    attempt: 'int',
    chain: 'text',
    wallet: 'text',
    nonce: 'bigint',
    purpose: 'text',
    sweptAddress: 'text',
    asset: 'text',
    amount: 'numeric',
    maxCost: 'numeric',
    minConfirmations: 'int',
    raw: 'text',
    txHash: 'text',
    fence: 'bigint',
    finalHeightWhenSigned: 'bigint',
    validToHeight: 'bigint',
    terms: 'jsonb',
  },
  2,
);

// The id is drawn first: the first attempt names the group after itself.
const insertTransaction = query<Transaction>(
  'transactions_insert',
  `insert into transactions (id, replacement_group, ${signed.columns}) overriding system value
   select drawn.id, coalesce($1::bigint, drawn.id), ${signed.columns}
   from (select nextval(pg_get_serial_sequence('transactions', 'id')) as id) as drawn, ${signed.from('given')}
   where not ${isHalted('given.asset')}
   returning ${transactionColumns}`,
);

export type NewTransaction = {
  /** Undefined: the first of a new group. */
  after: Pick<Transaction, 'group' | 'attempt'> | undefined;
  chain: Chain;
  wallet: string;
  nonce: number | null;
  /** The deposit address that a sweep empties; null for payouts. */
  sweptAddress: string | null;
  asset: AssetSymbol;
  amount: Units;
  signed: SignedTransaction;
  minConfirmations: number;
  /** The token of the lease under which it is signed. */
  fence: string;
  /** The height of the last final block, read before the first attempt was signed. */
  finalHeight: number | null;
  validToHeight: number | null;
  /** See Transaction. Bigints as text. */
  terms: object | null;
};

/** Thrown to roll back the database transaction that signs: payouts of the asset are halted. */
export class AssetHalted extends Error {
  constructor(asset: AssetSymbol) {
    super(`nothing is signed for ${asset}: its payouts are halted`);
    this.name = 'AssetHalted';
  }
}

/**
 * Stores signed bytes before they are sent. insertPayments stores what they pay. Throws AssetHalted while the asset is
 * halted.
 */
export async function insertSigned(trx: Trx, made: NewTransaction): Promise<Transaction> {
  const { raw, txHash, maxCost } = made.signed;
  const row = {
    ...made,
    raw,
    txHash,
    maxCost,
    attempt: (made.after?.attempt ?? 0) + 1,
    purpose: made.sweptAddress === null ? 'payout' : 'sweep',
    finalHeightWhenSigned: made.finalHeight,
    terms: made.terms && JSON.stringify(made.terms),
  };
  const stored = await trx.maybe(insertTransaction, [made.after?.group ?? null, ...signed.values([row])]);
  if (stored === undefined) throw new AssetHalted(made.asset);
  return stored;
}

const moveState = query<Transaction>(
  'transactions_move',
  `update transactions set
     state = $3,
     updated_at = now(),
     block_height = coalesce($4, block_height),
     block_hash = coalesce($5, block_hash),
     fee_paid = coalesce($6, fee_paid)
   where id = $1 and state = any($2)
   returning ${transactionColumns}`,
);

export type Mined = { height: number; blockHash: string; feePaid: Units };

/** Changes the state of a transaction that has one of the states `from`; undefined when it has none of them. */
export function moveTransaction(
  trx: Trx,
  id: string,
  from: readonly TransactionState[],
  to: TransactionState,
  mined: Mined | null = null,
): Promise<Transaction | undefined> {
  assertMoves(transactionMoves, from, to);
  return trx.maybe(moveState, [id, from, to, mined?.height, mined?.blockHash, mined?.feePaid]);
}

const markSent = query<{ broadcasts: number }>(
  'transactions_sent',
  `update transactions set
     broadcasts = broadcasts + 1,
     first_broadcast_at = coalesce(first_broadcast_at, $2),
     last_broadcast_at = $2
   where id = $1 returning broadcasts`,
);

/** Counts a sending of the bytes. @returns how often they were sent. */
export async function noteSent(db: Queryable, id: string, at: Date): Promise<number> {
  return (await db.one(markSent, [id, at])).broadcasts;
}

const markBlock = statement(
  'transactions_in_block',
  `update transactions set block_height = $2, block_hash = $3, doubted_at = null, updated_at = now()
   where id = $1 and ${maySet('block_hash')}`,
);

/** Stores the block that includes an open transaction, or that no block does. */
export async function noteBlock(
  db: Queryable,
  id: string,
  block: { height: number; blockHash: string } | null,
): Promise<void> {
  await db.rows(markBlock, [id, block?.height, block?.blockHash]);
}

const markDoubt = statement(
  'transactions_doubted',
  `update transactions set doubted_at = $2 where id = $1 and ${maySet('doubted_at')}`,
);

/** Stores since when an open transaction may never be mined, or that it may. */
export async function noteDoubt(db: Queryable, id: string, since: Date | null): Promise<void> {
  await db.rows(markDoubt, [id, since]);
}

const markSearched = statement(
  'transactions_searched',
  `update transactions set searched_to = $2 where id = $1 and ${maySet('searched_to')}`,
);

/** Stores up to which block a conflicting transaction was searched for. */
export async function noteSearched(db: Queryable, id: string, searchedTo: number): Promise<void> {
  await db.rows(markSearched, [id, searchedTo]);
}
