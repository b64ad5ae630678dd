import { bulk, statement, type Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { type Units, units } from '@quittance/shared/money';

type RefundPayload = PayloadOf<'refund.updated'>;

/** A refund of an invoice as it shows it. */
export type InvoiceRefund = {
  id: string;
  status: RefundPayload['status'];
  amount: Units;
  payoutId: string | null;
  createdAt: Date;
};

const refunds = bulk({
  id: 'text',
  invoiceId: 'text',
  status: 'text',
  amount: 'numeric',
  share: 'numeric',
  payoutId: 'text',
  version: 'int',
  createdAt: 'timestamptz',
});

const upsert = statement(
  'refunds_upsert',
  `${refunds.insertInto('refunds')} order by id
   on conflict (id) do update set status = excluded.status, payout_id = excluded.payout_id, version = excluded.version
   where refunds.version < excluded.version`,
);

/** Stores refunds as payouts tells of them. What is older than the stored version is dropped. */
export async function saveRefunds(trx: Trx, given: readonly RefundPayload[]): Promise<void> {
  const newest = new Map<string, RefundPayload>();
  for (const one of given) {
    const known = newest.get(one.refund_id);
    if (known === undefined || known.version < one.version) newest.set(one.refund_id, one);
  }
  const rows = [...newest.values()].map((one) => ({
    id: one.refund_id,
    invoiceId: one.invoice_id,
    status: one.status,
    amount: units(one.amount),
    share: units(one.share),
    payoutId: one.payout_id,
    version: one.version,
    createdAt: new Date(one.created_at),
  }));
  await trx.rows(upsert, refunds.values(rows));
}

/** More refunds of an invoice are not shown. */
const SHOWN_MAX = 100;

/** The newest refunds of an invoice `i`, oldest first; amounts as text, because JSON numbers are not exact. */
export const shownRefunds = `
  select json_agg(json_build_object('id', r.id, 'status', r.status, 'amount', r.amount::text, 'payoutId', r.payout_id,
    'createdAt', r.created_at) order by r.created_at, r.id)
  from (select * from refunds where invoice_id = i.id order by created_at desc, id desc limit ${SHOWN_MAX}) as r`;

/** What the refunds of an invoice `i` take of its paid amount: those that have not failed, expired or been cancelled. */
export const refundedAmount = `
  select coalesce(sum(share), 0) from refunds where invoice_id = i.id and status in ('claimable', 'pending', 'completed')`;

type RefundJson = Omit<InvoiceRefund, 'amount' | 'createdAt'> & { amount: string; createdAt: string };

export const refundOf = (json: object): InvoiceRefund => {
  const { amount, createdAt, ...rest } = json as RefundJson;
  return { ...rest, amount: units(amount), createdAt: new Date(createdAt) };
};
