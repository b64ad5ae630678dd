import { expect, it } from '@jest/globals';
import { invariants } from '@quittance/reconciliation/invariants';
import { DUE, MINUTE, openFixture } from './fixture.ts';

/** Refunds as the auditor compares them with what was paid. */
const { fixture, anInvoice, pay, settle, blocks, pass } = await openFixture();

it('refunds of an invoice that was reversed and mined again, not final yet, are within what was paid, and one unit more is not', async () => {
  const invoice = await anInvoice();
  const { tx } = await pay(invoice.to, DUE);
  await settle();
  const refund = (id: string, share: bigint) => refundOf(invoice.id, id, share);
  await refund('ref_1', DUE);
  fixture.chain.reorg(3);
  await blocks(3);
  await invoice.expectShown({ paid_amount: '0', reversed_amount: '0.01' });
  expect(await discrepanciesOfRefunds(invoice)).toEqual([]);
  await pay(invoice.to, DUE, { tx });
  await invoice.expectShown({ pending_amount: '0.01', paid_amount: '0', reversed_amount: '0' });
  expect(await discrepanciesOfRefunds(invoice)).toEqual([]);
  await settle();
  // Its credits are of one payment.
  await refund('ref_2', 1n);
  expect(await discrepanciesOfRefunds(invoice)).toEqual([
    { subject: `invoice ${invoice.id} refunds`, amount: '1' },
  ]);
});

it('refunds of an invoice that was closed with too little are within what was paid when that was accepted, and not before', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pay(invoice.to, DUE / 2n);
  await settle();
  await pass(2 * MINUTE);
  await settle();
  await invoice.expectShown({ status: 'partially_paid', paid_amount: '0.005' });
  const [deposit] = await invoice.settled();
  expect(deposit?.payload.disposition).toBe('unresolved');
  await refundOf(invoice.id, 'ref_3', DUE / 2n);
  expect(await discrepanciesOfRefunds(invoice)).toEqual([
    { subject: `invoice ${invoice.id} refunds`, amount: String(DUE / 2n) },
  ]);
  await fixture.rows(
    `insert into ledger.transfers (op, kind, account_id, asset, amount) values ('accept:' || $1::text, 'accept', 'acc_1', 'ETH', $2)`,
    [deposit?.payload.deposit_id, DUE / 2n],
  );
  expect(await discrepanciesOfRefunds(invoice)).toEqual([]);
  await refundOf(invoice.id, 'ref_4', 1n);
  expect(await discrepanciesOfRefunds(invoice)).toEqual([
    { subject: `invoice ${invoice.id} refunds`, amount: '1' },
  ]);
  // It has no entries, which the checks at the end would find.
  await fixture.rows(`delete from ledger.transfers where op = 'accept:' || $1::text`, [
    deposit?.payload.deposit_id,
  ]);
});

const refundOf = (invoice: string, id: string, share: bigint) =>
  fixture.rows(
    `insert into payouts.refunds (id, account_id, invoice_id, asset, share, amount, requested, rate, state, claim_hash,
       expires_at, created_at)
     values ($1, 'acc_1', $2, 'ETH', $3, $3, 'all', 'then', 'claimable', sha256($1::text::bytea), now(), now())`,
    [id, invoice, share],
  );

/** As the auditor finds them. */
async function discrepanciesOfRefunds({ id }: { id: string }) {
  const { sql } = invariants.find(({ name }) => name === 'refunds-within-payment') ?? {};
  return fixture.rows(`select subject, amount from (${sql}) as found where subject = $1`, [
    `invoice ${id} refunds`,
  ]);
}
