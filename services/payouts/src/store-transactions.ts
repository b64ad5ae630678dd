import type { SignedTransaction } from '@quittance/chains/chain';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import { type Units, units } from '@quittance/shared/money';
import { assertMoves } from './domain/payout-state.ts';
import type { OpenSum } from './domain/purse.ts';
import {
  assertEndsOpen,
  type TransactionMark,
  type TransactionPhase,
  type TransactionState,
  transactionMarks,
  transactionMoves,
  transactionPhases,
} from './domain/transaction-state.ts';
import { isHalted } from './store-halts.ts';

/** Part of a statement: the transaction is in one of the states of that phase. */
export const isIn = (phase: TransactionPhase, column = 'state'): string =>
  `${column} in (${transactionPhases[phase].map((state) => `'${state}'`).join(', ')})`;

const takes = (mark: TransactionMark): string => isIn(transactionMarks[mark]);

/** Signed bytes and what is known of them: one attempt of a family, of which at most one is ever mined. */
export type Transaction = {
  id: string;
  /** The id of the first attempt. What the family pays: store-payments.ts. */
  family: string;
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
  /** Since when its block is final. */
  finalAt: Date | null;
  /** It had ended, and since then it is not in the chain. */
  missingSince: Date | null;
  /** The last final block when it was signed. Unknown for those signed before this was written down. */
  finalHeightWhenSigned: number | null;
  /** EVM: up to here the blocks after that were searched for its nonce. */
  searchedTo: number | null;
  /** Solana: the last block it can be mined in. */
  validToHeight: number | null;
  /** What the next attempt is signed from: the engine that wrote it reads it. */
  terms: unknown;
};

/** Attempts of one family, the first one first. */
export type Family = readonly [Transaction, ...Transaction[]];

/** The one that counts while none is in a block: it pays the highest fee, or is the only one still valid. */
export const newestOf = (family: Family): Transaction => family.at(-1) ?? family[0];

type TransactionRow = {
  id: string;
  family: string;
  attempt: number;
  wallet: string;
  nonce: string | null;
  purpose: 'payout' | 'sweep';
  asset: AssetSymbol;
  amount: string;
  max_cost: string;
  min_confirmations: number;
  raw: string;
  tx_hash: string;
  state: TransactionState;
  block_hash: string | null;
  block_height: string | null;
  created_at: Date;
  first_broadcast_at: Date | null;
  last_broadcast_at: Date | null;
  doubted_at: Date | null;
  final_at: Date | null;
  missing_since: Date | null;
  final_height_when_signed: string | null;
  searched_to: string | null;
  valid_to_height: string | null;
  terms: unknown;
};

const columns = `id, family, attempt, wallet, nonce, purpose, asset, amount, max_cost, min_confirmations, raw,
  tx_hash, state, block_hash, block_height, created_at, first_broadcast_at, last_broadcast_at, doubted_at,
  final_at, missing_since, final_height_when_signed, searched_to, valid_to_height, terms`;

const countOf = (text: string | null): number | null => (text === null ? null : Number(text)); // tidy-allow number: a height or a nonce

const transactionOf = (row: TransactionRow): Transaction => ({
  id: row.id,
  family: row.family,
  attempt: row.attempt,
  wallet: row.wallet,
  nonce: countOf(row.nonce),
  purpose: row.purpose,
  asset: row.asset,
  amount: units(row.amount),
  maxCost: units(row.max_cost),
  minConfirmations: row.min_confirmations,
  raw: row.raw,
  txHash: row.tx_hash,
  state: row.state,
  blockHash: row.block_hash,
  blockHeight: countOf(row.block_height),
  createdAt: row.created_at,
  firstBroadcastAt: row.first_broadcast_at,
  lastBroadcastAt: row.last_broadcast_at,
  doubtedAt: row.doubted_at,
  finalAt: row.final_at,
  missingSince: row.missing_since,
  finalHeightWhenSigned: countOf(row.final_height_when_signed),
  searchedTo: countOf(row.searched_to),
  validToHeight: countOf(row.valid_to_height),
  terms: row.terms,
});

// The id is drawn first: the first attempt names the family after itself.
const insertTransaction = statement(
  'transactions_insert',
  `insert into transactions (id, family, attempt, chain, wallet, nonce, purpose, swept_address, asset, amount,
     max_cost, min_confirmations, raw, tx_hash, fence, final_height_when_signed, valid_to_height, terms)
   overriding system value
   select drawn.id, coalesce($1::bigint, drawn.id), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17
   from (select nextval(pg_get_serial_sequence('transactions', 'id')) as id) as drawn
   where not ${isHalted('$8')}
   returning ${columns}`,
);

export type NewTransaction = {
  /** Undefined: the first of a new family. */
  after: Pick<Transaction, 'family' | 'attempt'> | undefined;
  chain: Chain;
  wallet: string;
  nonce: number | null;
  /** The deposit address that a sweep empties; null for payouts. */
  sweptAddress: string | null;
  asset: AssetSymbol;
  amount: Units;
  signed: SignedTransaction;
  minConfirmations: number;
  /** The lease token of who signs. */
  fence: string;
  /** Of the last final block, read before the first attempt was signed. */
  finalHeight: number | null;
  validToHeight: number | null;
  /** See Transaction. Bigints as text. */
  terms: object | null;
};

/** Thrown to undo the transaction that was to sign: the books of the asset are wrong, and an operator has to look. */
export class AssetHalted extends Error {
  constructor(asset: AssetSymbol) {
    super(`nothing is signed for ${asset}: its payouts are halted`);
    this.name = 'AssetHalted';
  }
}

/**
 * Stores signed bytes, before anybody else sees them. What they pay is bound to their family by insertPayments. Throws
 * AssetHalted for what may not be signed at the moment, whatever was planned.
 */
export async function insertSigned(trx: Trx, made: NewTransaction): Promise<Transaction> {
  const row = await trx.maybe<TransactionRow>(insertTransaction, [
    made.after?.family ?? null,
    (made.after?.attempt ?? 0) + 1,
    made.chain,
    made.wallet,
    made.nonce,
    made.sweptAddress === null ? 'payout' : 'sweep',
    made.sweptAddress,
    made.asset,
    made.amount.toString(),
    made.signed.maxCost.toString(),
    made.minConfirmations,
    made.signed.raw,
    made.signed.txHash,
    made.fence,
    made.finalHeight,
    made.validToHeight,
    made.terms === null ? null : JSON.stringify(made.terms),
  ]);
  if (row === undefined) throw new AssetHalted(made.asset);
  return transactionOf(row);
}

const selectOpenWallets = statement(
  'transactions_open_wallets',
  `select wallet from transactions where chain = $1 and ${isIn('open')}
   group by wallet order by wallet <> $2, max(last_broadcast_at) nulls first, wallet limit $3`,
);

/** Wallets that have signed something whose end is open, the hot wallet first. */
export async function walletsWithOpenTransactions(
  db: Queryable,
  chain: Chain,
  hotAddress: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ wallet: string }>(selectOpenWallets, [chain, hotAddress, limit]);
  return rows.map((row) => row.wallet);
}

const selectOpen = statement(
  'transactions_open_of_wallet',
  `select ${columns} from transactions
   where ${isIn('open')} and family in (
     select family from transactions
     where chain = $1 and wallet = $2 and ${isIn('open')}
     group by family order by min(nonce), family limit $3)
   order by nonce, family, attempt`,
);

/**
 * A wallet's families whose end is open, those first that are mined first; of each all attempts that may still be
 * mined, the first one first.
 */
export async function openFamilies(
  db: Queryable,
  chain: Chain,
  wallet: string,
  limit: number,
): Promise<Family[]> {
  const open = (await db.rows<TransactionRow>(selectOpen, [chain, wallet, limit])).map(transactionOf);
  return [...Map.groupBy(open, (one) => one.family).values()] as unknown as Family[];
}

const selectStuck = statement(
  'transactions_stuck',
  `select ${columns} from transactions
   where ${isIn('open')} and family in (
     select family from transactions
     where chain = $1 and ${isIn('open')} and asset = any($4) and ($5::text is null or wallet = $5)
     group by family
     having bool_and(block_hash is null) and bool_and(first_broadcast_at < $2)
     order by min(nonce), family limit $3)
   order by nonce, family, attempt`,
);

/** Which of the stuck families are asked for. */
export type Stuck = { chain: Chain; assets: readonly AssetSymbol[]; sentBefore: Date; wallet?: string };

/** Families of which no attempt is in a block, and whose newest was sent before that time for the first time. */
export async function stuckFamilies(
  db: Queryable,
  { chain, assets, sentBefore, wallet }: Stuck,
  limit: number,
): Promise<Family[]> {
  const values = [chain, sentBefore, limit, assets, wallet ?? null];
  const stuck = (await db.rows<TransactionRow>(selectStuck, values)).map(transactionOf);
  return [...Map.groupBy(stuck, (one) => one.family).values()] as unknown as Family[];
}

const isDue = (every: string): string =>
  `(looked_at is null or looked_at < now() - ${every}::int * interval '1 millisecond')`;

const selectNotFinal = statement(
  'transactions_not_final',
  `select ${columns} from transactions
   where chain = $1 and ${isIn('ended')} and final_at is null
     and ${isDue('case when missing_since is null then $2 else $3 end')}
   order by looked_at nulls first, id limit $4`,
);

/** How often a transaction that has ended is looked at again. */
export type LookEvery = { presentMs: number; missingMs: number };

/** Ended transactions whose blocks are not final, those first that nobody has looked at for longest. */
export async function endedNotFinal(
  db: Queryable,
  chain: Chain,
  { presentMs, missingMs }: LookEvery,
  limit: number,
): Promise<Transaction[]> {
  const rows = await db.rows<TransactionRow>(selectNotFinal, [chain, presentMs, missingMs, limit]);
  return rows.map(transactionOf);
}

const selectNewestFinal = statement(
  'transactions_newest_final',
  `select ${columns} from (
     select * from transactions where chain = $1 and final_at is not null
     order by block_height desc, id desc limit 1) as newest
   where ${isDue('$2')}`,
);

/** The final transaction in the highest block; undefined when it was looked at a moment ago. */
export async function newestFinal(
  db: Queryable,
  chain: Chain,
  lookEveryMs: number,
): Promise<Transaction | undefined> {
  const row = await db.maybe<TransactionRow>(selectNewestFinal, [chain, lookEveryMs]);
  return row && transactionOf(row);
}

const markLooked = statement(
  'transactions_looked',
  `update transactions set
     looked_at = now(),
     final_at = case when $2 = 'final' then coalesce(final_at, now()) end,
     missing_since = case when $2 = 'missing' then coalesce(missing_since, now()) end,
     block_height = coalesce($3, block_height),
     block_hash = coalesce($4, block_hash)
   where id = $1 and ${takes('looked_at')}`,
);

/** Where an ended transaction was found. `not_final`: in a block that may still be dropped. */
export type Whereabouts = {
  is: 'final' | 'not_final' | 'missing';
  block?: { height: number; blockHash: string };
};

export async function noteLooked(db: Queryable, id: string, { is, block }: Whereabouts): Promise<void> {
  await db.rows(markLooked, [id, is, block?.height ?? null, block?.blockHash ?? null]);
}

const selectEndedFrom = statement(
  'transactions_ended_from_nonce',
  `select ${columns} from transactions
   where ${isIn('ended')} and family in (
     select id from transactions where chain = $1 and wallet = $2 and nonce >= $3 and attempt = 1)
   order by nonce limit $4`,
);

/** Transactions of a wallet that have ended and have this nonce or a later one. */
export async function endedFromNonce(
  db: Queryable,
  chain: Chain,
  wallet: string,
  nonce: number,
  limit: number,
): Promise<Transaction[]> {
  return (await db.rows<TransactionRow>(selectEndedFrom, [chain, wallet, nonce, limit])).map(transactionOf);
}

const markMissing = statement(
  'transactions_mark_missing',
  `update transactions set missing_since = coalesce(missing_since, now()), final_at = null, looked_at = null
   where id = any($1::bigint[]) and ${takes('missing_since')}`,
);

/** They are not in the chain any more: they are the next that are looked at. */
export async function noteMissing(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.rows(markMissing, [ids]);
}

const moveState = statement(
  'transactions_move',
  `update transactions set
     state = $3,
     updated_at = now(),
     block_height = coalesce($4, block_height),
     block_hash = coalesce($5, block_hash),
     fee_paid = coalesce($6, fee_paid)
   where id = $1 and state = any($2)
   returning ${columns}`,
);

export type Mined = { height: number; blockHash: string; feePaid: Units };

/** Moves a transaction on if it still is where the caller believes it to be; undefined when it is not. */
export async function moveTransaction(
  trx: Trx,
  id: string,
  from: readonly TransactionState[],
  to: TransactionState,
  mined: Mined | null = null,
): Promise<Transaction | undefined> {
  assertMoves(transactionMoves, from, to);
  const row = await trx.maybe<TransactionRow>(moveState, [
    id,
    from,
    to,
    mined?.height ?? null,
    mined?.blockHash ?? null,
    mined?.feePaid.toString() ?? null,
  ]);
  return row && transactionOf(row);
}

const buryOthers = statement(
  'transactions_bury_others',
  `update transactions set state = 'dead', updated_at = now()
   where family = $1 and id <> $2 and ${isIn('open')}`,
);

/** One attempt has come to its end in the chain: the others of its family can never be mined. */
export async function buryOtherAttempts(trx: Trx, { family, id }: Transaction): Promise<void> {
  assertEndsOpen('dead');
  await trx.rows(buryOthers, [family, id]);
}

const buryAll = statement(
  'transactions_bury_family',
  `update transactions set state = 'dead', updated_at = now()
   where family = $1 and ${isIn('open')} returning id`,
);

/** No attempt of a family can ever be mined. False when it had ended before. */
export async function buryAttempts(trx: Trx, family: string): Promise<boolean> {
  assertEndsOpen('dead');
  return (await trx.rows(buryAll, [family])).length > 0;
}

const selectFamily = statement(
  'transactions_of_family',
  `select ${columns} from transactions where family = $1 order by attempt`,
);

/** All attempts of a family, whatever became of them, the first one first. */
export async function attemptsOf(db: Queryable, family: string): Promise<Transaction[]> {
  return (await db.rows<TransactionRow>(selectFamily, [family])).map(transactionOf);
}

const markSent = statement(
  'transactions_sent',
  `update transactions set
     broadcasts = broadcasts + 1,
     first_broadcast_at = coalesce(first_broadcast_at, $2),
     last_broadcast_at = $2
   where id = $1 returning broadcasts`,
);

/** How often the bytes were sent, this time included. */
export async function noteSent(db: Queryable, id: string, at: Date): Promise<number> {
  return (await db.one<{ broadcasts: number }>(markSent, [id, at])).broadcasts;
}

const markBlock = statement(
  'transactions_in_block',
  `update transactions set block_height = $2, block_hash = $3, doubted_at = null, updated_at = now()
   where id = $1 and ${takes('block_hash')}`,
);

/** Remembers the block that an open transaction is in, or that it is in none. */
export async function noteBlock(
  db: Queryable,
  id: string,
  block: { height: number; blockHash: string } | null,
): Promise<void> {
  await db.rows(markBlock, [id, block?.height ?? null, block?.blockHash ?? null]);
}

const markDoubt = statement(
  'transactions_doubted',
  `update transactions set doubted_at = $2 where id = $1 and ${takes('doubted_at')}`,
);

/** Remembers since when the chain seems to have passed a transaction by, or that it has not. */
export async function noteDoubt(db: Queryable, id: string, since: Date | null): Promise<void> {
  await db.rows(markDoubt, [id, since]);
}

const markSearched = statement(
  'transactions_searched',
  `update transactions set searched_to = $2 where id = $1 and ${takes('searched_to')}`,
);

/** Remembers up to which block a transaction's nonce was searched for. */
export async function noteSearched(db: Queryable, id: string, searchedTo: number): Promise<void> {
  await db.rows(markSearched, [id, searchedTo]);
}

// What left the chain is sent again, and moves its money then. Two queries, for an index each.
const underWay = `(
  select family, wallet, nonce, purpose, asset, amount, max_cost, block_hash from transactions
  where chain = $1 and ${isIn('open')}
  union all select family, wallet, nonce, purpose, asset, amount, max_cost, null from transactions
  where chain = $1 and missing_since is not null) as under_way`;

// A family counts once, whatever its attempts: by the one that is in a block, else by the least it brings and the most
// it may cost.
const sumOpen = statement(
  'transactions_open_sums',
  `with families as (
     select family, purpose, asset, wallet = $2 as paid_by_hot, bool_or(block_hash is not null) as in_block,
       coalesce(min(amount) filter (where block_hash is not null), min(amount)) as amount, max(max_cost) as max_cost
     from ${underWay} group by 1, 2, 3, 4)
   select purpose, asset, paid_by_hot, in_block,
     exists (select from holdings where sweep_id = family and reversed_at is not null) as doubtful,
     sum(amount) as amount, sum(max_cost) as max_cost
   from families group by 1, 2, 3, 4, 5`,
);

const selectSweepsInNoBlock = statement(
  'transactions_sweeps_in_no_block',
  `select wallet, nonce, asset, max(amount) as amount from ${underWay}
   where purpose = 'sweep'
   group by family, wallet, nonce, asset having bool_and(block_hash is null)`,
);

export type OpenSweep = { wallet: string; nonce: number; asset: AssetSymbol; amount: Units };

/** Sweeps that were in no block when they were last looked at. */
export async function sweepsInNoBlock(db: Queryable, chain: Chain): Promise<OpenSweep[]> {
  const rows = await db.rows<{ wallet: string; nonce: string; asset: AssetSymbol; amount: string }>(
    selectSweepsInNoBlock,
    [chain],
  );
  return rows.map(({ wallet, nonce, asset, amount }) => ({
    wallet,
    nonce: Number(nonce), // tidy-allow number: a nonce counts transactions
    asset,
    amount: units(amount),
  }));
}

type SumRow = {
  purpose: 'payout' | 'sweep';
  asset: AssetSymbol;
  paid_by_hot: boolean;
  in_block: boolean;
  doubtful: boolean;
  amount: string;
  max_cost: string;
};

/** What all signed transactions will move whose end is open, or that have left the chain after it. */
export async function openSums(db: Queryable, chain: Chain, hotAddress: string): Promise<OpenSum[]> {
  return (await db.rows<SumRow>(sumOpen, [chain, hotAddress])).map((row) => ({
    purpose: row.purpose,
    asset: row.asset,
    paidByHot: row.paid_by_hot,
    inBlock: row.in_block,
    doubtful: row.doubtful,
    amount: units(row.amount),
    maxCost: units(row.max_cost),
  }));
}
