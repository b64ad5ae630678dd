import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';

/** Transactions that were stored after the records were read, and the payouts that they pay. */
export type LateTransactions = {
  transactions: { tx_hash: string; group_id: string }[];
  payouts: { id: string; group_id: string; asset: AssetSymbol; amount: string }[];
};

/**
 * Reads what was signed while a node was asked: it may have paid from the balances that the node has shown. Every transaction
 * is stored before it is sent.
 * @param after the newest transaction of the records
 */
export async function readLateTransactions(trx: Trx, chain: Chain, after: string): Promise<LateTransactions> {
  const transactions = await trx.rows<LateTransactions['transactions'][number]>(
    `select tx_hash, replacement_group::text as group_id from payouts.transactions where chain = $1 and id > $2`,
    [chain, after],
  );
  const payouts = await trx.rows<LateTransactions['payouts'][number]>(
    `select p.id::text as id, m.replacement_group::text as group_id, p.asset, m.amount::text as amount
     from payouts.payments m join payouts.payouts p on p.id = m.payout_id
     where m.replacement_group = any($1::bigint[])`,
    [transactions.map(({ group_id }) => group_id)],
  );
  return { transactions, payouts };
}
