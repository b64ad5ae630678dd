import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import type { Input } from '../domain/exclusion.ts';

const lockChain = statement(
  'signatures_lock_chain',
  `select pg_advisory_xact_lock(hashtextextended('signer ' || $1::text, 0))`,
);

/** One request of a chain at a time, until the transaction ends: what it reads is not changed meanwhile. */
export const lockSignatures = (trx: Trx, chain: Chain) => trx.rows(lockChain, [chain]);

const selectKnown = query<{ digest: string; txHash: string }>(
  'signatures_known',
  `select digest, tx_hash from signatures where chain = $1 and digest = any($2::text[])`,
);

/** By their digests, the hashes of the transactions that were signed for these orders. */
export async function knownHashes(
  db: Queryable,
  chain: Chain,
  digests: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.rows(selectKnown, [chain, digests]);
  return new Map(rows.map(({ digest, txHash }) => [digest, txHash]));
}

/** Until when a transaction of Solana counts as valid, and what was final when it was signed. */
export type Validity = { validToHeight: number; finalSlot: number };

export type NewSignature = {
  digest: string;
  /** The order as JSON. */
  terms: unknown;
  txHash: string;
  maxCost: Units;
  nonce: { wallet: string; nonce: number } | undefined;
  validity: Validity | undefined;
  payouts: readonly string[];
  inputs: readonly Input[];
};

const columns = bulk({
  digest: 'text',
  terms: 'jsonb',
  txHash: 'text',
  maxCost: 'numeric',
  wallet: 'text',
  nonce: 'bigint',
  validToHeight: 'bigint',
  finalSlot: 'bigint',
});
const insertAll = query<{ digest: string; id: string }>(
  'signatures_insert',
  `insert into signatures (chain, created_at, ${columns.columns})
   select $9, $10, ${columns.columns} from ${columns.from('given')} returning digest, id`,
);

const signedPayouts = bulk({ payoutId: 'text', signature: 'bigint' });
const insertPayouts = statement('signed_payouts_insert', signedPayouts.insertInto('signed_payouts'));

const outpoints = bulk({ outpoint: 'text', amount: 'numeric', signature: 'bigint' });
const insertOutpoints = statement('spent_outpoints_insert', outpoints.insertInto('spent_outpoints'));

/** Stores what is signed on a chain. The payouts are cleared. */
export async function insertSignatures(
  trx: Trx,
  chain: Chain,
  all: readonly NewSignature[],
  at: Date,
): Promise<void> {
  const rows = all.map(({ digest, terms, txHash, maxCost, nonce, validity }) => ({
    ...{ digest, txHash, maxCost, terms: JSON.stringify(terms) },
    wallet: nonce?.wallet ?? null,
    nonce: nonce?.nonce ?? null,
    validToHeight: validity?.validToHeight ?? null,
    finalSlot: validity?.finalSlot ?? null,
  }));
  const stored = await trx.rows(insertAll, [...columns.values(rows), chain, at]);
  const ids = new Map(stored.map(({ digest, id }) => [digest, id]));
  const ofEach = <T>(parts: (one: NewSignature, signature: string) => T[]): T[] =>
    all.flatMap((one) => parts(one, ids.get(one.digest) as string));
  const payouts = ofEach((one, signature) => one.payouts.map((payoutId) => ({ payoutId, signature })));
  const spent = ofEach((one, signature) => one.inputs.map((input) => ({ ...input, signature })));
  if (payouts.length > 0) await trx.rows(insertPayouts, signedPayouts.values(payouts));
  if (spent.length > 0) await trx.rows(insertOutpoints, outpoints.values(spent));
}

/** A transaction that was signed for a payout. */
export type EarlierSignature = {
  id: string;
  payoutId: string;
  chain: Chain;
  txHash: string;
  wallet: string | null;
  nonce: number | null;
  validToHeight: number | null;
  finalSlot: number | null;
  isOver: boolean;
  /** Of Bitcoin, with its amount. */
  outpoint: string | null;
  amount: Units | null;
};

const selectEarlier = query<EarlierSignature>(
  'signatures_of_payouts',
  `select s.id, p.payout_id, s.chain, s.tx_hash, s.wallet, s.nonce::float8 as nonce,
     s.valid_to_height::float8 as valid_to_height, s.final_slot::float8 as final_slot,
     n.signature is not null as is_over, o.outpoint, o.amount
   from signed_payouts p join signatures s on s.id = p.signature
   left join non_inclusions n on n.signature = s.id
   left join spent_outpoints o on o.signature = s.id
   where p.payout_id = any($1::text[]) order by s.id`,
);

/** What was signed for payouts, oldest first; of a transaction with several inputs a row for each. */
export const earlierSignatures = (db: Queryable, payouts: readonly string[]): Promise<EarlierSignature[]> =>
  db.rows(selectEarlier, [payouts]);

const insertNonInclusion = statement(
  'non_inclusions_insert',
  `insert into non_inclusions (signature, proven_at) values ($1, $2) on conflict do nothing`,
);

/** Stores that the blocks have shown that a transaction can never be mined. */
export const noteNonInclusion = (db: Queryable, signature: string, at: Date) =>
  db.rows(insertNonInclusion, [signature, at]);

const selectInputs = query<Input>(
  'spent_outpoints_amounts',
  `select distinct outpoint, amount from spent_outpoints where outpoint = any($1::text[])`,
);

/** Those of these outputs that were signed for before, with the amounts that were told. */
export const spentInputs = (db: Queryable, names: readonly string[]): Promise<Input[]> =>
  db.rows(selectInputs, [names]);

const selectCosts = query<{ costs: Units }>(
  'signatures_costs',
  `select coalesce(sum(max_cost), 0) as costs from signatures where chain = $1 and created_at > $2`,
);

/** The most that the transactions which were signed since then can cost. */
export const costsSince = async (db: Queryable, chain: Chain, since: Date): Promise<Units> =>
  (await db.one(selectCosts, [chain, since])).costs;
