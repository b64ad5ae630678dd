import { describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { policyReasons } from '../src/domain/policy.ts';
import { CANCELLED } from '../src/domain/states.ts';
import { refundsSuite } from './refunds-fixture.ts';
import { recipient as address } from './service-fixture.ts';

/** What the policy of an account says of payouts to customers. */
const at = refundsSuite();
const { anInvoice, refund, shown, aLink, page, payoutsOf, fail, aDepositToReturn, giveBack } = at;

const put = (policy: object) => at.fixture.shop.put('/api/payout-policy', { delay_hours: 0, ...policy });
const limit = (limits: object) => put({ limits: [{ asset: 'ETH', ...limits }] });
const payout = async (id: unknown) => (await at.fixture.shop.get(`/api/payouts/${id}`)).body;
const approve = (id: unknown, client = at.fixture.shop.another()) =>
  client.post('', {}, `/api/payouts/${id}/approve`);
const refused = { status: 'failed', failed_reason: policyReasons.above_payout_limit };

describe('a payout to a customer', () => {
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
    expect((await approve(waiting?.id, at.fixture.shop)).status).toBe(409);
    expect((await approve(waiting?.id)).status).toBe(200);
    await fail(waiting?.id as PayoutId, CANCELLED);
    expect(await shown(refundId)).toMatchObject({ status: 'cancelled' });
  });
});
