import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';

/** What a group of transactions pays to whom; on every chain but Bitcoin a group pays one payout. */
export type TransactionPayment = {
  payoutId: PayoutId;
  /** Canonical. */
  address: string;
  amount: Units;
  /** Where its transactions have several outputs. */
  outputIndex: number | null;
};

const payments = bulk({
  group: 'replacement_group bigint',
  payoutId: 'bigint',
  address: 'text',
  amount: 'numeric',
  outputIndex: 'int',
});

const insert = statement('payments_insert', payments.insertInto('payments'));

/** Binds payouts to the group that pays them, for ever. */
export async function insertPayments(
  trx: Trx,
  group: string,
  paid: readonly TransactionPayment[],
): Promise<void> {
  await trx.rows(insert, payments.values(paid.map((payment) => ({ ...payment, group }))));
}

const selectOfGroup = query<TransactionPayment>(
  'payments_of_group',
  `select payout_id, address, amount, output_index from payments
   where replacement_group = $1 order by output_index nulls first, payout_id`,
);

/** What a group pays, in the order of its outputs; nothing for a sweep. */
export const paymentsOf = (db: Queryable, group: string): Promise<TransactionPayment[]> =>
  db.rows(selectOfGroup, [group]);
