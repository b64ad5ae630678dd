import type { SignedTransaction } from '@quittance/chains/chain';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import type { OpenTransaction } from './domain/judge.ts';
import type { OpenSum } from './domain/purse.ts';
import { assertMoves, type TransactionState, transactionMoves } from './domain/states.ts';

/** Signed bytes and what is known of them. */
export type Transaction = OpenTransaction & {
  id: string;
  wallet: string;
  purpose: 'payout' | 'sweep';
  payoutId: PayoutId | null;
  asset: AssetSymbol;
  amount: Units;
  raw: string;
  txHash: string;
  state: TransactionState;
  /** The last final block when it was signed. Unknown for those signed before this was written down. */
  finalHeightWhenSigned: number | null;
  /** Up to here the blocks after that were searched for its nonce. */
  searchedTo: number | null;
};

type TransactionRow = {
  id: string;
  wallet: string;
  nonce: string;
  purpose: 'payout' | 'sweep';
  payout_id: PayoutId | null;
  asset: AssetSymbol;
  amount: string;
  min_confirmations: number;
  raw: string;
  tx_hash: string;
  state: TransactionState;
  block_hash: string | null;
  last_broadcast_at: Date | null;
  doubted_at: Date | null;
  final_height_when_signed: string | null;
  searched_to: string | null;
};

const columns = `id, wallet, nonce, purpose, payout_id, asset, amount, min_confirmations, raw, tx_hash, state,
  block_hash, last_broadcast_at, doubted_at, final_height_when_signed, searched_to`;

const heightOf = (height: string | null): number | null => (height === null ? null : Number(height)); // tidy-allow number: a height counts blocks

const transactionOf = (row: TransactionRow): Transaction => ({
  id: row.id,
  wallet: row.wallet,
  nonce: Number(row.nonce), // tidy-allow number: a nonce counts transactions
  purpose: row.purpose,
  payoutId: row.payout_id,
  asset: row.asset,
  amount: units(row.amount),
  minConfirmations: row.min_confirmations,
  raw: row.raw,
  txHash: row.tx_hash,
  state: row.state,
  blockHash: row.block_hash,
  lastBroadcastAt: row.last_broadcast_at,
  doubtedAt: row.doubted_at,
  finalHeightWhenSigned: heightOf(row.final_height_when_signed),
  searchedTo: heightOf(row.searched_to),
});

const selectWallet = statement(
  'wallets_one',
  `select address, next_nonce from wallets where chain = $1 and address = $2`,
);

const selectHot = statement('wallets_hot', `select address from wallets where chain = $1 and role = 'hot'`);

const insertWallet = statement(
  'wallets_insert',
  `insert into wallets (chain, address, role, next_nonce) values ($1, $2, $3, $4) on conflict do nothing`,
);

/** The hot wallet that this database was first used with. */
export async function knownHotWallet(db: Queryable, chain: Chain): Promise<string | undefined> {
  return (await db.maybe<{ address: string }>(selectHot, [chain]))?.address;
}

/** The nonce that the wallet's next transaction will get; undefined for a wallet that never signed. */
export async function nextNonce(db: Queryable, chain: Chain, address: string): Promise<number | undefined> {
  const row = await db.maybe<{ next_nonce: string }>(selectWallet, [chain, address]);
  return row && Number(row.next_nonce); // tidy-allow number: a nonce counts transactions
}

export async function insertWalletOnce(
  trx: Trx,
  chain: Chain,
  address: string,
  role: 'hot' | 'deposit',
  firstNonce: number,
): Promise<void> {
  await trx.rows(insertWallet, [chain, address, role, firstNonce]);
}

const raiseNonce = statement(
  'wallets_raise_nonce',
  `update wallets set next_nonce = $3 where chain = $1 and address = $2 and next_nonce < $3 returning address`,
);

/** Leaves out nonces that others have used, in blocks that are final. True when there were some. */
export async function skipUsedNonces(
  trx: Trx,
  chain: Chain,
  address: string,
  finalized: number,
): Promise<boolean> {
  return (await trx.rows(raiseNonce, [chain, address, finalized])).length > 0;
}

const takeNonce = statement(
  'wallets_take_nonce',
  `update wallets set next_nonce = next_nonce + 1 where chain = $1 and address = $2 returning next_nonce - 1 as nonce`,
);

const insertTransaction = statement(
  'transactions_insert',
  `insert into transactions (chain, wallet, nonce, purpose, payout_id, swept_address, asset, amount, max_cost,
     min_confirmations, raw, tx_hash, fence, final_height_when_signed)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
   returning ${columns}`,
);

export type SigningOrder = {
  chain: Chain;
  wallet: string;
  asset: AssetSymbol;
  minConfirmations: number;
  /** The lease token of who signs. */
  fence: string;
  /** Of the last final block, read before signing. */
  finalHeight: number;
  serves: { payoutId: PayoutId } | { sweptAddress: string };
};

/**
 * Takes the wallet's next nonce, signs with it and stores the bytes: the only place that gives out nonces, so
 * that one is used exactly when the transaction commits. `sign` does not touch the network; when it answers
 * undefined, the caller must roll back.
 */
export async function signAndStore(
  trx: Trx,
  order: SigningOrder,
  sign: (nonce: number) => Promise<{ signed: SignedTransaction; amount: Units } | undefined>,
): Promise<Transaction | undefined> {
  const { chain, wallet, asset, serves } = order;
  const taken = await trx.one<{ nonce: string }>(takeNonce, [chain, wallet]);
  const nonce = Number(taken.nonce); // tidy-allow number: a nonce counts transactions
  const made = await sign(nonce);
  if (made === undefined) return undefined;
  const row = await trx.one<TransactionRow>(insertTransaction, [
    chain,
    wallet,
    nonce,
    'payoutId' in serves ? 'payout' : 'sweep',
    'payoutId' in serves ? serves.payoutId : null,
    'sweptAddress' in serves ? serves.sweptAddress : null,
    asset,
    made.amount.toString(),
    made.signed.maxCost.toString(),
    order.minConfirmations,
    made.signed.raw,
    made.signed.txHash,
    order.fence,
    order.finalHeight,
  ]);
  return transactionOf(row);
}

const selectOpenWallets = statement(
  'transactions_open_wallets',
  `select wallet from transactions where chain = $1 and state in ('signed', 'broadcast')
   group by wallet order by wallet <> $2, max(last_broadcast_at) nulls first limit $3`,
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
   where chain = $1 and wallet = $2 and state in ('signed', 'broadcast') order by nonce limit $3`,
);

/** A wallet's transactions whose end is open, in the order in which they can be mined. */
export async function openTransactions(
  db: Queryable,
  chain: Chain,
  wallet: string,
  limit: number,
): Promise<Transaction[]> {
  return (await db.rows<TransactionRow>(selectOpen, [chain, wallet, limit])).map(transactionOf);
}

const selectNotFinal = statement(
  'transactions_not_final',
  `select ${columns} from transactions
   where chain = $1 and state in ('mined', 'reverted') and final_at is null
     and (looked_at is null or looked_at < now() - $2::int * interval '1 millisecond')
   order by looked_at nulls first limit $3`,
);

/** Ended transactions whose blocks are not final yet, those first that nobody has looked at for longest. */
export async function endedNotFinal(
  db: Queryable,
  chain: Chain,
  lookEveryMs: number,
  limit: number,
): Promise<Transaction[]> {
  return (await db.rows<TransactionRow>(selectNotFinal, [chain, lookEveryMs, limit])).map(transactionOf);
}

const markLooked = statement(
  'transactions_looked',
  `update transactions set looked_at = now(), final_at = case when $2 then now() else final_at end where id = $1`,
);

export async function noteLooked(db: Queryable, id: string, isFinal: boolean): Promise<void> {
  await db.rows(markLooked, [id, isFinal]);
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
   where id = $1 and state in ('signed', 'broadcast')`,
);

/** Remembers the block that an open transaction is in, or that it is in none. */
export async function noteBlock(
  db: Queryable,
  id: string,
  block: { height: number; blockHash: string } | null,
): Promise<void> {
  await db.rows(markBlock, [id, block?.height ?? null, block?.blockHash ?? null]);
}

const markDoubt = statement('transactions_doubted', `update transactions set doubted_at = $2 where id = $1`);

/** Remembers since when the chain seems to have passed a transaction by, or that it has not. */
export async function noteDoubt(db: Queryable, id: string, since: Date | null): Promise<void> {
  await db.rows(markDoubt, [id, since]);
}

const markSearched = statement(
  'transactions_searched',
  `update transactions set searched_to = $2 where id = $1`,
);

/** Remembers up to which block a transaction's nonce was searched for. */
export async function noteSearched(db: Queryable, id: string, searchedTo: number): Promise<void> {
  await db.rows(markSearched, [id, searchedTo]);
}

const sumOpen = statement(
  'transactions_open_sums',
  `select purpose, asset, wallet = $2 as paid_by_hot, block_hash is not null as in_block,
     exists (select from holdings where sweep_id = transactions.id and reversed_at is not null) as doubtful,
     sum(amount) as amount, sum(max_cost) as max_cost
   from transactions where chain = $1 and state in ('signed', 'broadcast') group by 1, 2, 3, 4, 5`,
);

const selectSweepsInNoBlock = statement(
  'transactions_sweeps_in_no_block',
  `select wallet, nonce, asset, amount from transactions
   where chain = $1 and purpose = 'sweep' and state in ('signed', 'broadcast') and block_hash is null`,
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

/** What all signed transactions whose end is open will move. */
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
