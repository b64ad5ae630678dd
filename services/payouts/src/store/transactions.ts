import type { SignedTransaction } from '@quittance/chains/chain';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import {
  assertMoves,
  columnPhases,
  type PhaseColumn,
  type TransactionPhase,
  type TransactionState,
  transactionMoves,
  transactionPhases,
} from '../domain/states.ts';

/** A condition: the state of the transaction is one of that phase. */
export const isIn = (phase: TransactionPhase, column = 'state'): string =>
  `${column} in (${transactionPhases[phase].map((state) => `'${state}'`).join(', ')})`;

/** A condition: the payout's transaction was mined and reverted, so that its network fee was spent. `of` is its relation. */
export const isReverted = (of: string): string => `(${of}.status = 'failed' and exists (
  select from payments m join transactions t on t.replacement_group = m.replacement_group
  where m.payout_id = ${of}.id and t.state = 'reverted'))`;

const maySet = (mark: PhaseColumn): string => isIn(columnPhases[mark]);

/** Signed bytes and what is known of them: one attempt of a group. At most one attempt of a group is ever mined. */
export type Transaction = {
  id: string;
  /** The id of the first attempt. `paymentsOf` reads what the group pays. */
  group: string;
  /** 1 is the first. */
  attempt: number;
  wallet: string;
  /** On EVM chains. */
  nonce: number | null;
  purpose: 'payout' | 'sweep';
  asset: AssetSymbol;
  /** What arrives: at the recipients, or at the hot wallet. */
  amount: Units;
  maxCost: Units;
  minConfirmations: number;
  raw: string;
  txHash: string;
  state: TransactionState;
  /** The block it was last seen in. */
  blockHash: string | null;
  blockHeight: number | null;
  createdAt: Date;
  firstBroadcastAt: Date | null;
  lastBroadcastAt: Date | null;
  doubtedAt: Date | null;
  finalAt: Date | null;
  /** Since when a reorganisation has dropped it after its end. */
  missingSince: Date | null;
  /** The last final block when it was signed. Null for transactions from before this was stored. */
  finalHeightWhenSigned: number | null;
  /** Up to which block a conflicting transaction was searched for. */
  searchedTo: number | null;
  /** Solana: the last block it can be mined in. */
  validToHeight: number | null;
  /** What the next attempt is signed from, in the form of its kind of chain: JSON, bigints as text. */
  terms: unknown;
};

/** Attempts of one group, the first one first. */
export type ReplacementGroup = readonly [Transaction, ...Transaction[]];

/** The newest attempt. It pays the highest fee, or is the only one that is still valid. */
export const newestOf = (group: ReplacementGroup): Transaction => group.at(-1) ?? group[0];

/** Postgres gives bigint as text: heights and nonces are read as float8, which is exact for them. */
export const transactionColumns = `id, replacement_group as "group", attempt, wallet, nonce::float8, purpose, asset, amount,
  max_cost, min_confirmations, raw, tx_hash, state, block_hash, block_height::float8, created_at, first_broadcast_at,
  last_broadcast_at, doubted_at, final_at, missing_since, final_height_when_signed::float8, searched_to::float8,
  valid_to_height::float8, terms`;

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
   returning ${transactionColumns}`,
);

export type NewTransaction = Pick<
  Transaction,
  | 'wallet'
  | 'nonce'
  | 'asset'
  | 'amount'
  | 'minConfirmations'
  | 'finalHeightWhenSigned'
  | 'validToHeight'
  | 'terms'
> & {
  /** Undefined: the first of a new group. */
  after: Pick<Transaction, 'group' | 'attempt'> | undefined;
  chain: Chain;
  /** The deposit address that a sweep empties; null for payouts. */
  sweptAddress: string | null;
  signed: SignedTransaction;
  /** The token of the lease under which it is signed. */
  fence: string;
};

/** Thrown to roll back the database transaction that stores a plan: payouts of the asset are halted. */
export class AssetHalted extends Error {
  constructor(asset: AssetSymbol) {
    super(`nothing is signed for ${asset}: its payouts are halted`);
    this.name = 'AssetHalted';
  }
}

/** Stores signed bytes before they are sent. insertPayments stores what they pay. */
export async function insertSigned(trx: Trx, made: NewTransaction): Promise<Transaction> {
  const { raw, txHash, maxCost } = made.signed;
  const row = {
    ...made,
    raw,
    txHash,
    maxCost,
    attempt: (made.after?.attempt ?? 0) + 1,
    purpose: made.sweptAddress === null ? 'payout' : 'sweep',
    terms: made.terms === null ? null : JSON.stringify(made.terms),
  };
  return await trx.one(insertTransaction, [made.after?.group ?? null, ...signed.values([row])]);
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

/** The block that includes a transaction. */
type InBlock = { height: number; blockHash: string };

/** Changes the state of a transaction that has one of the states `from`; undefined when it has none of them. */
export function moveTransaction(
  trx: Trx,
  id: string,
  from: readonly TransactionState[],
  to: TransactionState,
  mined?: InBlock & { feePaid: Units },
): Promise<Transaction | undefined> {
  assertMoves(transactionMoves, from, to);
  return trx.maybe(moveState, [id, from, to, mined?.height, mined?.blockHash, mined?.feePaid]);
}

const markSent = statement(
  'transactions_sent',
  `update transactions set
     broadcasts = broadcasts + 1,
     first_broadcast_at = coalesce(first_broadcast_at, $2),
     last_broadcast_at = $2
   where id = $1`,
);

/** Counts a sending of the bytes. */
export async function noteSent(db: Queryable, id: string, at: Date): Promise<void> {
  await db.rows(markSent, [id, at]);
}

const markBlock = statement(
  'transactions_in_block',
  `update transactions set block_height = $2, block_hash = $3, doubted_at = null, updated_at = now()
   where id = $1 and ${maySet('block_hash')}`,
);

/** Stores the block that includes an open transaction, or that no block does. */
export async function noteBlock(db: Queryable, id: string, block: InBlock | null): Promise<void> {
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

const isDue = (every: string): string =>
  `(looked_at is null or looked_at < now() - ${every}::int * interval '1 millisecond')`;

const selectNotFinal = query<Transaction>(
  'transactions_not_final',
  `select ${transactionColumns} from transactions
   where chain = $1 and ${isIn('ended')} and final_at is null
     and ${isDue('case when missing_since is null then $2 else $3 end')}
   order by looked_at nulls first, id limit $4`,
);

/** How often an ended transaction is checked again. */
type LookEvery = { presentMs: number; missingMs: number };

/** Ended transactions whose blocks are not final, the longest unchecked first. */
export const endedNotFinal = (db: Queryable, chain: Chain, every: LookEvery, limit: number) =>
  db.rows(selectNotFinal, [chain, every.presentMs, every.missingMs, limit]);

const selectNewestFinal = query<Transaction>(
  'transactions_newest_final',
  `select ${transactionColumns} from (
     select * from transactions where chain = $1 and final_at is not null
     order by block_height desc, id desc limit 1) as newest
   where ${isDue('$2')}`,
);

/** The final transaction in the highest block; undefined when it was checked within `lookEveryMs`. */
export const newestFinal = (db: Queryable, chain: Chain, lookEveryMs: number) =>
  db.maybe(selectNewestFinal, [chain, lookEveryMs]);

const markLooked = statement(
  'transactions_looked',
  `update transactions set
     looked_at = now(),
     final_at = case when $2 = 'final' then coalesce(final_at, now()) end,
     missing_since = case when $2 = 'missing' then coalesce(missing_since, now()) end,
     block_height = coalesce($3, block_height),
     block_hash = coalesce($4, block_hash)
   where id = $1 and ${maySet('looked_at')}`,
);

/** Where an ended transaction was found. `not_final`: in a block that may still be dropped. */
export type Whereabouts = { is: 'final' | 'not_final' | 'missing'; block?: InBlock };

export async function noteLooked(db: Queryable, id: string, { is, block }: Whereabouts): Promise<void> {
  await db.rows(markLooked, [id, is, block?.height, block?.blockHash]);
}

const selectEndedFrom = query<Transaction>(
  'transactions_ended_from_nonce',
  `select ${transactionColumns} from transactions
   where ${isIn('ended')} and replacement_group in (
     select id from transactions where chain = $1 and wallet = $2 and nonce >= $3 and attempt = 1)
   order by transactions.nonce limit $4`,
);

/** Transactions of a wallet that have ended and have this nonce or a later one. */
export const endedFromNonce = (db: Queryable, chain: Chain, wallet: string, nonce: number, limit: number) =>
  db.rows(selectEndedFrom, [chain, wallet, nonce, limit]);

const markMissing = statement(
  'transactions_mark_missing',
  `update transactions set missing_since = coalesce(missing_since, now()), final_at = null, looked_at = null
   where id = any($1::bigint[]) and ${maySet('missing_since')}`,
);

/** Marks transactions as dropped from the chain, and as the next to be checked. */
export async function noteMissing(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.rows(markMissing, [ids]);
}
