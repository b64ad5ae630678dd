import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import {
  type TransactionMark,
  type TransactionPhase,
  type TransactionState,
  transactionMarks,
  transactionPhases,
} from '../domain/transaction-state.ts';

/** Part of a statement: the transaction is in one of the states of that phase. */
export const isIn = (phase: TransactionPhase, column = 'state'): string =>
  `${column} in (${transactionPhases[phase].map((state) => `'${state}'`).join(', ')})`;

export const takes = (mark: TransactionMark): string => isIn(transactionMarks[mark]);

/** Signed bytes and what is known of them: one attempt of a group, of which at most one is ever mined. */
export type Transaction = {
  id: string;
  /** The id of the first attempt. What the group pays: payments.ts. */
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
  /** What the next attempt is signed from: the chain worker that wrote it reads it. */
  terms: unknown;
};

/** Attempts of one group, the first one first. */
export type ReplacementGroup = readonly [Transaction, ...Transaction[]];

/** The one that counts while none is in a block: it pays the highest fee, or is the only one still valid. */
export const newestOf = (group: ReplacementGroup): Transaction => group.at(-1) ?? group[0];

/** Postgres gives bigint as text: heights and nonces are read as float8, which is exact for them. */
export const transactionColumns = `id, replacement_group as "group", attempt, wallet, nonce::float8, purpose, asset, amount,
  max_cost, min_confirmations, raw, tx_hash, state, block_hash, block_height::float8, created_at, first_broadcast_at,
  last_broadcast_at, doubted_at, final_at, missing_since, final_height_when_signed::float8, searched_to::float8,
  valid_to_height::float8, terms`;
