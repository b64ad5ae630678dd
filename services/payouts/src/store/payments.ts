import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';

/** What a group of transactions pays to whom; on every chain but Bitcoin a group pays one. */
export type Payment = {
  payoutId: PayoutId;
  /** Canonical. */
  address: string;
  amount: Units;
  /** Where its transactions have several outputs. */
  outputIndex: number | null;
};

const insert = statement(
  'payments_insert',
  `insert into payments (family, payout_id, address, amount, output_index)
   select $1, * from unnest($2::bigint[], $3::text[], $4::numeric[], $5::int[])`,
);

/** Binds payouts to the group that pays them, for ever. */
export async function insertPayments(trx: Trx, group: string, payments: readonly Payment[]): Promise<void> {
  await trx.rows(insert, [
    group,
    payments.map((payment) => payment.payoutId),
    payments.map((payment) => payment.address),
    payments.map((payment) => payment.amount.toString()),
    payments.map((payment) => payment.outputIndex),
  ]);
}

const selectOfGroup = statement(
  'payments_of_family',
  `select payout_id, address, amount, output_index from payments
   where family = $1 order by output_index nulls first, payout_id`,
);

type PaymentRow = { payout_id: PayoutId; address: string; amount: string; output_index: number | null };

/** What a group pays, in the order of its outputs; nothing for a sweep. */
export async function paymentsOf(db: Queryable, group: string): Promise<Payment[]> {
  return (await db.rows<PaymentRow>(selectOfGroup, [group])).map((row) => ({
    payoutId: row.payout_id,
    address: row.address,
    amount: units(row.amount),
    outputIndex: row.output_index,
  }));
}
