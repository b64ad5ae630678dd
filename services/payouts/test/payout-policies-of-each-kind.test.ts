import { describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { policyReasons } from '../src/domain/policy.ts';
import { CANCELLED } from '../src/domain/states.ts';
import { runAutomaticPayouts } from '../src/operations/run-automatic-payouts.ts';
import { refundsSuite } from './refunds-fixture.ts';
import { recipient as address, order } from './service-fixture.ts';

/** What the policy of an account says of batches, of automatic payouts, and of payouts to customers. */
const at = refundsSuite();
const { fixture, anInvoice, refund, shown, aLink, page, payoutsOf, fail, aDepositToReturn, giveBack } = at;

const put = (policy: object) => fixture.shop.put('/api/payout-policy', { delay_hours: 0, ...policy });
const limit = (limits: object) => put({ limits: [{ asset: 'ETH', ...limits }] });
const approve = async (id: unknown, client = fixture.shop.another()) =>
  (await client.post('', {}, `/api/payouts/${id}/approve`)).status;
const failed = (reason: string) => ({ status: 'failed', failed_reason: reason, approval: null });

describe('a batch', () => {
  const send = (mode: string, amounts: number[]) =>
    fixture.shop.post(
      { mode, payouts: amounts.map((amount, i) => ({ ...order, amount, external_id: `wage ${i}` })) },
      ...[{}, '/api/payout-batches'],
    );
  const ends = async () =>
    fixture.db.rows('select status, failed_reason from payouts where account_id = $1 order by batch_line', [
      fixture.shop.account,
    ]);

  it('of the mode each has a payout for each line, as the policy says', async () => {
    await limit({ per_payout: 3, per_24h: 5, approval_above: 1 });
    const { status, body } = await send('each', [1, 4, 3, 2, 1]);
    expect([status, body.data.totals.created]).toEqual([201, 5]);
    expect(await ends()).toEqual([
      { status: 'reserved', failed_reason: null },
      { status: 'failed', failed_reason: policyReasons.above_payout_limit },
      { status: 'awaiting_approval', failed_reason: null },
      { status: 'failed', failed_reason: policyReasons.above_day_limit },
      { status: 'reserved', failed_reason: null },
    ]);
    expect(await approve(body.data.lines[2].payout_id, fixture.shop)).toBe(409);
    expect(await approve(body.data.lines[2].payout_id)).toBe(200);
  });

  it('of all or nothing pays nothing when the policy refuses a line', async () => {
    await limit({ per_24h: 3 });
    const { status } = await send('all_or_nothing', [1, 1, 2]);
    expect(status).toBe(201);
    expect(await ends()).toEqual([
      { status: 'failed', failed_reason: policyReasons.other_line },
      { status: 'failed', failed_reason: policyReasons.other_line },
      { status: 'failed', failed_reason: policyReasons.above_day_limit },
    ]);
    expect((await send('all_or_nothing', [1, 1, 1])).status).toBe(201);
    expect((await ends()).filter((one) => one['status'] === 'reserved')).toHaveLength(3);
  });
});

describe('an automatic payout', () => {
  const RULE = '/api/automatic-payouts/ETH';
  const run = async (ether: bigint) => {
    await fixture.makeDue(fixture.shop);
    fixture.ledger.available = (ether * 10n ** 18n).toString();
    await runAutomaticPayouts(fixture.service.ports);
    return (await fixture.shop.get('/api/payouts?perPage=1')).body.data[0];
  };
  const rule = { address, schedule: 'threshold', threshold: 2 };

  it('pays as much as the limits leave, and nothing while that is less than its threshold', async () => {
    await fixture.shop.put(RULE, rule);
    await limit({ per_payout: 3, per_24h: 5 });
    const [first, second] = [await run(10n), await run(10n)];
    expect([first, second]).toMatchObject([
      { status: 'pending', amount: '3', automatic: true },
      { status: 'pending', amount: '2' },
    ]);
    expect((await run(10n)).id).toBe(second.id);
  });

  it('waits for an approval of another token than the one that has stored its rule', async () => {
    await fixture.shop.put(RULE, rule);
    await limit({ approval_above: 0, per_payout: 5 });
    const payout = await run(4n);
    expect(payout.approval).toMatchObject({ status: 'waiting', requested_by: fixture.shop.token });
    expect(await approve(payout.id, fixture.shop)).toBe(409);
    expect(await approve(payout.id)).toBe(200);
  });

  it('to an address that is not in the address book fails', async () => {
    await fixture.shop.put(RULE, rule);
    await put({ allow_list: true, limits: [{ asset: 'ETH', per_payout: 5 }] });
    expect(await run(4n)).toMatchObject(failed(policyReasons.not_in_address_book));
  });
});

describe('a payout to a customer', () => {
  const refused = failed(policyReasons.above_payout_limit);
  const payout = async (id: unknown) => (await fixture.shop.get(`/api/payouts/${id}`)).body;

  it('goes to any address also when payouts go to the address book alone', async () => {
    await put({ allow_list: true });
    const made = await refund(anInvoice(), { amount: 'all', address });
    expect(await shown(made.body.data.id)).toMatchObject({ status: 'pending' });
    const { refundId, token } = await aLink();
    expect((await page(token, address)).status).toBe(303);
    expect(await shown(refundId)).toMatchObject({ status: 'pending' });
    const returned = await giveBack(await aDepositToReturn(), { address });
    expect(await payout(returned.body.data.id)).toMatchObject({ status: 'pending' });
  });

  it('that refunds an invoice to an address fails above a limit, and its refund with it', async () => {
    await limit({ per_payout: '0.01' });
    const made = await refund(anInvoice(), { amount: 'all', address });
    const after = await shown(made.body.data.id);
    expect(after.status).toBe('failed');
    expect(await payout(after.payout_id)).toMatchObject(refused);
    expect(await at.told(made.body.data.id)).toEqual(['pending', 'failed']);
  });

  it('that returns unresolved funds fails above a limit, and the funds can be returned again', async () => {
    await limit({ per_payout: '0.005' });
    const deposit = await aDepositToReturn();
    const returned = await giveBack(deposit, { address });
    expect([returned.status, await payout(returned.body.data.id)]).toMatchObject([201, refused]);
    const less = await giveBack(deposit, { address, amount: '0.005' });
    expect(await payout(less.body.data.id)).toMatchObject({ status: 'pending' });
  });

  it('of a claim link fails above a limit, and the link is paid when the limit allows it', async () => {
    const { refundId, token } = await aLink();
    await limit({ per_payout: '0.01' });
    expect((await page(token, address)).status).toBe(303);
    expect(await shown(refundId)).toMatchObject({ status: 'claimable' });
    await limit({ per_payout: '1' });
    await page(token, address);
    expect(await shown(refundId)).toMatchObject({ status: 'pending' });
    expect((await payoutsOf(refundId)).map(({ status }) => status)).toEqual(['failed', 'reserved']);
  });

  it('of a claim link waits for the approval of another token than the one that has made the link', async () => {
    const { refundId, token } = await aLink();
    await limit({ approval_above: 0 });
    await page(token, address);
    const [waiting] = await payoutsOf(refundId);
    expect(waiting?.status).toBe('awaiting_approval');
    expect(await approve(waiting?.id, fixture.shop)).toBe(409);
    expect(await approve(waiting?.id)).toBe(200);
    await fail(waiting?.id as PayoutId, CANCELLED);
    expect(await shown(refundId)).toMatchObject({ status: 'cancelled' });
  });
});
