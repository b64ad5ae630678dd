import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { claimHashOf, claimTokenOf } from '@quittance/payouts/claim-token';
import { cancelClaim, endRefunds, payClaim } from '@quittance/payouts/operations/claim-refund';
import { createRefund } from '@quittance/payouts/operations/create-refund';
import { describeInvoice } from '@quittance/payouts/operations/describe-invoice';
import { failPayout } from '@quittance/payouts/operations/transactions';
import type { Ports } from '@quittance/payouts/ports';
import type { StoredRefund } from '@quittance/payouts/store/refund-rows';
import { findRefundByClaim } from '@quittance/payouts/store/refunds';
import type { Db } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { type AccountId, newInvoiceId, type PayoutId } from '@quittance/shared/ids';
import { requestProofOf } from '@quittance/testkit/api';
import { patient } from '@quittance/testkit/patience';
import { type Interleave, type Operation, returned } from './interleave.ts';
import { BALANCE, FEE, PAID, payoutsAndLedger } from './payouts-and-ledger.ts';

/** Of a refund of all that was paid, by its claim link. */
let at: Awaited<ReturnType<typeof payoutsAndLedger>>;
beforeAll(async () => {
  at = await payoutsAndLedger();
});
afterAll(() => at?.close());

/** Longer than an operation needs to come from its start to its first pause. */
const LINK_ENDS_AFTER_MS = patient(200);
const recipients = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];

type Link = { account: AccountId; refund: StoredRefund; holds: string[]; ports: (on: Db) => Ports };

/** A claim link of a refund. */
async function aLink({ endsAfterMs }: { endsAfterMs?: number } = {}): Promise<Link> {
  const account = await at.anAccount();
  const holds: string[] = [];
  const ports = (on: Db) => at.portsOf(on, account, holds);
  const own = ports(at.db);
  const invoice = await describeInvoice(own, newInvoiceId());
  if (invoice === null) throw new Error('the invoice is described');
  const notes = { externalId: null, metadata: {} };
  const order = {
    wanted: 'all',
    requested: 'all',
    rate: 'then',
    to: { expiresInDays: 1 },
    ...notes,
  } as const;
  const asserted = { method: 'POST', path: `/api/invoices/${invoice.id}/refunds`, body: '{"amount":"all"}' };
  const asked = { request: requestProofOf(account, asserted), requestId: 'req_link', key: undefined };
  const made = await createRefund(own, invoice, order, asked);
  if (!made.ok) throw new Error('the refund is made');
  const { id } = (made.value as { data: { id: StoredRefund['id'] } }).data;
  if (endsAfterMs !== undefined)
    await at.db.rows(`update refunds set expires_at = now() + $2 * interval '1 ms' where id = $1`, [
      id,
      endsAfterMs,
    ]);
  const refund = await findRefundByClaim(at.db, claimHashOf(claimTokenOf(own.settings.claimLinksSecret, id)));
  if (refund === undefined) throw new Error('the refund has a link');
  return { account, refund, holds, ports };
}

const claiming = ({ refund, ports }: Link, address = recipients[0]): Operation<string> => ({
  pausesBefore: ['refunds_claim', 'commit'],
  async run(on) {
    const paid = await payClaim(ports(on), refund, { address }, 'req_claim');
    return paid.ok ? 'paid' : String(paid.refusal);
  },
});
const cancelling = ({ refund, ports }: Link): Operation<boolean> => ({
  pausesBefore: ['refunds_cancel', 'commit'],
  run: (on) => cancelClaim(ports(on), refund.id),
});
/** The time of the link is over before this reads it. */
const ending = ({ refund, ports }: Link): Operation<number> => ({
  pausesBefore: ['refunds_expire', 'commit'],
  async run(on) {
    await wait(Math.max(0, (refund.expiresAt?.getTime() ?? 0) - Date.now() + 5));
    return await endRefunds(ports(on));
  },
});

type Books = { state: string; payouts: string[]; available: bigint; held: bigint };

async function booksOf({ account, refund }: Link): Promise<Books> {
  const { state } = await at.db.one<{ state: string }>('select state from refunds where id = $1', [
    refund.id,
  ]);
  const payouts = await at.db.rows<{ status: string }>('select status from payouts where refund_id = $1', [
    refund.id,
  ]);
  return { state, payouts: payouts.map(({ status }) => status), ...(await at.balanceOf(account)) };
}
const untouched = (state: string): Books => ({ state, payouts: [], available: BALANCE, held: 0n });
const claimed: Books = {
  state: 'pending',
  payouts: ['reserved'],
  available: BALANCE - PAID - FEE,
  held: PAID + FEE,
};

/** What won, and that the other one has done nothing: one hold was asked for where the claim has won, else none. */
async function expectOne(link: Link, state: string): Promise<void> {
  expect(await booksOf(link)).toEqual(state === 'pending' ? claimed : untouched(state));
  expect(link.holds).toHaveLength(state === 'pending' ? 1 : 0);
  if (state === 'pending') await expectReleasedOnce(link);
}

/** The payout fails, and all of its hold is in the balance again. */
async function expectReleasedOnce(link: Link): Promise<void> {
  const [id] = link.holds as [PayoutId];
  await at.db.transaction((trx) =>
    failPayout(trx, id, ['reserved'], { failedReason: 'refused', feeKept: false }),
  );
  const released = await at.db.rows<{ payload: PayloadOf<'hold.release'> }>(
    `select payload from outbox where kind = 'hold.release' and payload->>'payout_id' = $1`,
    [id],
  );
  expect(released).toHaveLength(1);
  for (const { payload } of [...released, ...released]) await at.tellLedger('hold.release', payload);
  expect(await booksOf(link)).toMatchObject({ payouts: ['failed'], available: BALANCE, held: 0n });
}

/** The states in which a link ended, over all orders. */
async function inEveryOrder(
  test: (interleave: Interleave) => Promise<string>,
  expected: readonly string[],
): Promise<void> {
  const seen = new Set<string>();
  await at.replicas.inEveryOrder(async (interleave) => void seen.add(await test(interleave)));
  expect([...seen].sort()).toEqual(expected);
}

it('either claims a refund or cancels it', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink();
      const { a, b } = await interleave(claiming(link), cancelling(link));
      const isCancelled = returned(b);
      expect(returned(a)).toBe(isCancelled ? 'not_claimable' : 'paid');
      const state = isCancelled ? 'cancelled' : 'pending';
      await expectOne(link, state);
      return state;
    },
    ['cancelled', 'pending'],
  );
});

it('either claims a refund or ends its link when its time is over', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink({ endsAfterMs: LINK_ENDS_AFTER_MS });
      const { a, b } = await interleave(claiming(link), ending(link));
      const isPaid = returned(a) === 'paid';
      expect(returned(a)).toBe(isPaid ? 'paid' : 'not_claimable');
      const ended = returned(b) + (isPaid ? 0 : await endRefunds(link.ports(at.db)));
      expect(ended).toBe(isPaid ? 0 : 1);
      const state = isPaid ? 'pending' : 'expired';
      await expectOne(link, state);
      return state;
    },
    ['expired', 'pending'],
  );
});

it('either cancels a refund or ends its link when its time is over', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink({ endsAfterMs: LINK_ENDS_AFTER_MS });
      const { a, b } = await interleave(cancelling(link), ending(link));
      const isCancelled = returned(a);
      const ended = returned(b) + (isCancelled ? 0 : await endRefunds(link.ports(at.db)));
      expect(ended).toBe(isCancelled ? 0 : 1);
      const state = isCancelled ? 'cancelled' : 'expired';
      await expectOne(link, state);
      return state;
    },
    ['cancelled', 'expired'],
  );
});

it('pays a refund once that is claimed for two addresses at once', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink();
      const { a, b } = await interleave(claiming(link), claiming(link, recipients[1]));
      expect([returned(a), returned(b)].sort()).toEqual(['not_claimable', 'paid']);
      await expectOne(link, 'pending');
      return 'pending';
    },
    ['pending'],
  );
});
