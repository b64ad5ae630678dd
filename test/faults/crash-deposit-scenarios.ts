import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import {
  type CrashAsset,
  expectInvoice,
  expectPaid,
  expectPublished,
  expectTold,
  invoiceOf,
  type Scenario,
  STEP_MS,
  sale,
} from './crash-scenarios.ts';

/** A payment that no block has taken when the service dies of having seen it. */
export const unmined =
  (asset: CrashAsset): Scenario =>
  (fixture, died) =>
    fixture.withoutBlocks(async () => {
      const ended = await sale(asset)(fixture, died);
      await died;
      return ended;
    });

/** An invoice whose time is over. */
export const unpaid: Scenario = async (fixture) => {
  const { id } = await invoiceOf(fixture, 'ETH', 6);
  await fixture.quittance.db.rows('update invoices.invoices set expires_at = now() where id = $1', [id]);
  return async () => {
    await expectInvoice(fixture, id, { status: 'expired' });
    expectTold(fixture, 'invoice.expired', id);
    await expectPublished(fixture, id, ['invoice.created', 'invoice.expired']);
  };
};

/** Nobody has looked at the chain for two minutes: invoices are given that time back. */
export const outage: Scenario = async ({ quittance }) => {
  await quittance.db.rows(`update invoices.cursors set synced_at = now() - interval '2 minutes'`);
  return async () => {};
};

/** Ether by way of a contract: no transaction names the address. */
export const paidByContract: Scenario = async (fixture) => {
  const { id, amount, address } = await invoiceOf(fixture, 'ETH', 6);
  await fixture.quittance.ethereum.payByContract(address.address, amount);
  return () => expectPaid(fixture, id);
};

/** Half of an invoice is dropped by a reorganisation; another payment comes, and a contract sends what is left. */
export const reorganised: Scenario = async (fixture) => {
  const { ethereum } = fixture.quittance;
  return await fixture.withoutBlocks(async () => {
    const { id, amount, address } = await invoiceOf(fixture, 'ETH', 25);
    const becomes = (wanted: object) => eventually(() => expectInvoice(fixture, id, wanted), STEP_MS);
    expect(amount).toBe('0.01');
    await ethereum.pay('ETH', address.address, '0.005');
    await ethereum.mine();
    await becomes({ status: 'partially_paid' });
    await ethereum.dropBlocks(1);
    await becomes({ status: 'pending', payments: [{ status: 'reversed' }] });
    // The same amount again would be the same transaction, where the fees have not changed.
    await ethereum.pay('ETH', address.address, '0.004');
    await ethereum.mine();
    await ethereum.payByContract(address.address, '0.006');
    return async () => {
      await expectInvoice(fixture, id, { status: 'paid', paid_amount: amount });
      const { body } = await fixture.shop.get(`/api/invoices/${id}`);
      const payments = body.payments.map(({ status }: { status: string }) => status);
      expect(payments.toSorted()).toEqual(['confirmed', 'confirmed', 'reversed']);
      await expectPublished(fixture, id, [
        'deposit.settled',
        'deposit.settled',
        'invoice.confirmed',
        'invoice.created',
        'invoice.paid',
        'invoice.partially_paid',
        'invoice.partially_paid',
        'invoice.payment_reversed',
      ]);
    };
  });
};

/** The last blocks are read once more on an operator's word; nothing had been missed. */
export const readAgain: Scenario = async (fixture) => {
  const { db } = fixture.quittance;
  const asked = `insert into invoices.rescans (chain, from_height, next_height, asked_at)
    select chain, greatest(0, height - 40), greatest(0, height - 40), now() from invoices.cursors
    where chain = 'ethereum' returning id`;
  const { id } = await db.one<{ id: string }>(asked, []);
  return async () => {
    const stands = 'select found, failure, ended_at is not null as ended from invoices.rescans where id = $1';
    expect(await db.one(stands, [id])).toEqual({ found: 0, failure: null, ended: true });
  };
};

/** A payment that was credited and is dropped from the chain for good. */
export const takenBack: Scenario = async (fixture) => {
  const { ethereum, db } = fixture.quittance;
  // Nothing else is in the blocks that are dropped.
  await ethereum.mine(10);
  return await fixture.withoutBlocks(async () => {
    const { id, amount, address } = await invoiceOf(fixture, 'ETH', 6);
    await ethereum.pay('ETH', address.address, amount);
    await ethereum.mine(4);
    await eventually(() => expectInvoice(fixture, id, { status: 'paid' }), STEP_MS);
    await ethereum.dropBlocks(4);
    return async () => {
      const reversals = `select r.deposit_id from ledger.reversals r join invoices.deposits d on d.id = r.deposit_id
        where d.invoice_id = $1 and r.booked_at is not null`;
      expect(await db.rows(reversals, [id])).toHaveLength(1);
    };
  });
};

/** Money that came when its invoice had expired, and that the merchant takes into the balance. */
export const late: Scenario = async (fixture) => {
  const { id, amount, address } = await invoiceOf(fixture, 'ETH', 6);
  await fixture.quittance.db.rows('update invoices.invoices set expires_at = now() where id = $1', [id]);
  await eventually(() => expectInvoice(fixture, id, { status: 'expired' }), STEP_MS);
  await fixture.quittance.ethereum.pay('ETH', address.address, amount);
  const [item] = await eventually(async () => {
    const { body } = await fixture.shop.get('/api/unresolved?status=open');
    expect(body.data).toHaveLength(1);
    return body.data as { id: string }[];
  }, STEP_MS);
  // 409: accepted before, by a request whose answer was lost.
  await eventually(async () => {
    const { status } = await fixture.shop.post(`/api/unresolved/${item?.id}/accept`, {});
    expect([200, 409]).toContain(status);
  }, STEP_MS);
  return async () => {
    const { body } = await fixture.shop.get('/api/unresolved?status=accepted');
    expect(body.data).toContainEqual(expect.objectContaining({ id: item?.id }));
  };
};
