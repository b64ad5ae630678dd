import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import {
  columnPhases,
  type PhaseColumn,
  type TransactionPhase,
  type TransactionState,
  transactionPhases,
} from '../domain/transaction-state.ts';

/** A condition: the state of the transaction is one of that phase. */
export const isIn = (phase: TransactionPhase, column = 'state'): string =>
  `${column} in (${transactionPhases[phase].map((state) => `'${state}'`).join(', ')})`;

export const maySet = (mark: PhaseColumn): string => isIn(columnPhases[mark]);

/** Signed bytes and what is known of them: one attempt of a group. At most one attempt of a group is ever mined. */
export type Transaction = {
  id: string;
  /** The id of the first attempt. payments.ts has what the group pays. */
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
  /** What the next attempt is signed from, in the form of its kind of chain. */
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
