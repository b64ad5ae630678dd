import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import type { CrashFixture } from './crash-fixture.ts';
import { submit } from './crash-payer-scenarios.ts';
import {
  both,
  type CrashAsset,
  type Ended,
  expectInvoice,
  expectPaidOut,
  invoiceOf,
  type Scenario,
  STEP_MS,
  usual,
} from './crash-scenarios.ts';

/* Batches of payouts, cancelled payouts and refunds. */

/** As if the time had passed after which payouts gives up what its process had begun and not ended: 30 s for requests of a batch. */
export async function voidSoon({ quittance: { db } }: CrashFixture): Promise<undefined> {
  await db.rows(
    `update payouts.payouts set created_at = created_at - interval '31 seconds'
     where status = 'requested' and (batch_id is not null or refund_id is not null)`,
  );
  await db.rows(
    `update payouts.payout_batches set created_at = created_at - interval '1 minute' where finished_at is null`,
  );
  return undefined;
}

/** Two payouts of one batch, both or none. */
export const batched =
  (asset: CrashAsset): Scenario =>
  async (fixture, died) => {
    const { amount, addresses } = {
      amount: usual[asset].payout,
      addresses: [await newAddress(fixture, asset), await newAddress(fixture, asset)],
    };
    const payouts = addresses.map((address) => ({ asset, amount, address }));
    const [{ status, body }] = await Promise.all([
      fixture.insist('/api/payout-batches', { mode: 'all_or_nothing', payouts }),
      died.then(() => voidSoon(fixture)),
    ]);
    expect(status).toBe(201);
    const lines = body.data.lines as { status: string; payout_id: number }[];
    expect(lines).toMatchObject([{ status: 'created' }, { status: 'created' }]);
    return async () => {
      for (const [i, to] of addresses.entries()) {
        await expectPaidOut(fixture, { id: lines[i]?.payout_id ?? 0, asset, amount, to });
        expect(await standingTo(fixture, to)).toHaveLength(1);
      }
    };
  };

const newAddress = (fixture: CrashFixture, asset: CrashAsset) => fixture.customerOf(asset).newAddress();

/** The payouts to an address, without requests that came to nothing. */
const standingTo = ({ quittance }: CrashFixture, address: string) =>
  quittance.db.rows<{ id: string }>(
    `select id from payouts.payouts where address = $1 and status not in ('voided', 'refused')`,
    [address],
  );

const CANCELS_MAX = 20;
const INSIST_FOR_MS = 90_000;
const ASK_AGAIN_AFTER_MS = 100;

/** Payouts that are cancelled at once, until the chain worker has not signed one before. */
export const cancelled =
  (asset: CrashAsset): Scenario =>
  async (fixture) => {
    const ended: Ended[] = [];
    for (let tries = 1; ; tries++) {
      const to = await newAddress(fixture, asset);
      const amount = usual[asset].payout;
      const { body } = await fixture.insist('/api/payouts', { asset, amount, address: to });
      const { id } = body.data;
      if ((await cancel(fixture, `/api/payouts/${id}/cancel`)) === 200) {
        ended.push(() => expectCancelled(fixture, asset, { id, to }));
        return both(...ended);
      }
      ended.push(() => expectPaidOut(fixture, { id, asset, amount, to }));
      if (tries === CANCELS_MAX) throw new Error(`${tries} payouts were signed before they were cancelled`);
    }
  };

/** Asks until it is decided. @returns 200, or 400 when it is too late */
async function cancel({ shop }: CrashFixture, path: string): Promise<number> {
  const deadline = Date.now() + patient(INSIST_FOR_MS);
  for (;;) {
    const status = (await shop.post(path, {}).catch(() => undefined))?.status;
    if (status === 200 || status === 400) return status;
    if (Date.now() > deadline) throw new Error(`${path} was not decided: ${status}`);
    await sleep(ASK_AGAIN_AFTER_MS);
  }
}

async function expectCancelled(
  fixture: CrashFixture,
  asset: CrashAsset,
  { id, to }: { id: number; to: string },
): Promise<void> {
  const { body } = await fixture.shop.get(`/api/payouts/${id}`);
  expect(body).toMatchObject({ status: 'failed', failed_reason: 'cancelled' });
  expect(await fixture.customerOf(asset).balance(asset, to)).toBe(0n);
}

async function paidInvoice(fixture: CrashFixture, asset: CrashAsset) {
  const invoice = await invoiceOf(fixture, asset, usual[asset].dollars);
  await fixture.customerOf(asset).pay(asset, invoice.address.address, invoice.amount);
  await eventually(() => expectInvoice(fixture, invoice.id, { status: 'paid' }), STEP_MS);
  return invoice;
}

type Refund = { id: string; claim_url: string | null };

async function refundOf(fixture: CrashFixture, invoice: string, wanted: object): Promise<Refund> {
  const { status, body } = await fixture.insist(`/api/invoices/${invoice}/refunds`, wanted);
  expect([status, body.message]).toEqual([201, 'Refund created successfully.']);
  return body.data;
}

const shownRefund = async ({ shop }: CrashFixture, id: string) => (await shop.get(`/api/refunds/${id}`)).body;

/** A refund of a whole invoice that is paid once. */
async function expectRefunded(
  fixture: CrashFixture,
  asset: CrashAsset,
  { id, amount, to }: { id: string; amount: string; to: string },
): Promise<void> {
  const shown = await shownRefund(fixture, id);
  expect(shown).toMatchObject({ status: 'completed', amount });
  await expectPaidOut(fixture, { id: shown.payout_id, asset, amount, to });
  expect(await standingTo(fixture, to)).toEqual([{ id: String(shown.payout_id) }]);
  await expectInvoice(fixture, shown.invoice_id, { refunds: [{ id, status: 'completed' }] });
}

/** A refund to an address that the merchant gives. */
export const refunded =
  (asset: CrashAsset): Scenario =>
  async (fixture, died) => {
    const invoice = await paidInvoice(fixture, asset);
    const to = await newAddress(fixture, asset);
    const [{ id }] = await Promise.all([
      refundOf(fixture, invoice.id, { amount: 'all', address: to }),
      died.then(() => voidSoon(fixture)),
    ]);
    return () => expectRefunded(fixture, asset, { id, amount: invoice.amount, to });
  };

/** A refund that the payer claims, again when a claim came to nothing. */
export const claimed =
  (asset: CrashAsset): Scenario =>
  async (fixture, died) => {
    const invoice = await paidInvoice(fixture, asset);
    const to = await newAddress(fixture, asset);
    const { id, claim_url: url } = await refundOf(fixture, invoice.id, { amount: 'all' });
    const claim = async () => {
      const { status } = await shownRefund(fixture, id);
      if (status === 'claimable') await submit(url ?? '', { address: to });
      expect(status).toBe('completed');
    };
    await Promise.all([eventually(claim, STEP_MS, ASK_AGAIN_AFTER_MS), died.then(() => voidSoon(fixture))]);
    return () => expectRefunded(fixture, asset, { id, amount: invoice.amount, to });
  };

/** Two claim links that nobody uses: the merchant cancels one, and the time of the other passes. */
export const unclaimed =
  (asset: CrashAsset): Scenario =>
  async (fixture) => {
    const { id: invoice } = await paidInvoice(fixture, asset);
    const { id: cancelledOne } = await refundOf(fixture, invoice, { amount: 2 });
    const { id: expiredOne } = await refundOf(fixture, invoice, { amount: 3 });
    expect(await cancel(fixture, `/api/refunds/${cancelledOne}/cancel`)).toBe(200);
    await fixture.quittance.db.rows('update payouts.refunds set expires_at = now() where id = $1', [
      expiredOne,
    ]);
    return async () => {
      const refunds = [
        { id: cancelledOne, status: 'cancelled' },
        { id: expiredOne, status: 'expired' },
      ];
      const { body } = await fixture.shop.get(`/api/invoices/${invoice}`);
      expect(body.refunds).toHaveLength(2);
      expect(body.refunds).toEqual(
        expect.arrayContaining(refunds.map((one) => expect.objectContaining(one))),
      );
      const ofInvoice = 'select state from payouts.refunds where invoice_id = $1 order by state';
      expect(await fixture.quittance.db.rows(ofInvoice, [invoice])).toEqual([
        { state: 'cancelled' },
        { state: 'expired' },
      ]);
    };
  };
