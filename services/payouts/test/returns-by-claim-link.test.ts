import { describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { CANCELLED } from '../src/domain/states.ts';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address } from './service-fixture.ts';

const at = refundsSuite();
const { shown, page, payoutsOf, fail, aDepositToReturn, giveBack } = at;

describe('POST /api/unresolved/{deposit}/return with a claim link', () => {
  it('pays the deposit back less the network fee, once', async () => {
    const id = await aDepositToReturn();
    const { status, body } = await giveBack(id, { claim: true, external_id: 'late' });
    expect([status, body.data]).toMatchObject([
      201,
      { status: 'claimable', deposit_id: id, invoice_id: null, amount: '0.01', requested: 'deposit' },
    ]);
    expect((await giveBack(id, { claim: true })).status).toBe(409);
    const token = body.data.claim_url.split('/').at(-1);
    expect((await page(token)).text).toMatch(/Network fee, which is taken from it[\s\S]*0\.0005 ETH/);
    await Promise.all([page(token, address), page(token, address)]);
    expect(at.fixture.ledger.asked).toMatchObject([
      { deposit_id: id, amount: ((95n * FINNEY) / 10n).toString() },
    ]);
    const [payout, ...more] = await payoutsOf(body.data.id);
    expect(more).toEqual([]);
    expect((await giveBack(id, { address })).status).toBe(409);
    expect((await page(token)).text).toMatch(/Sent after the network fee[\s\S]*0\.0095 ETH/);
    await fail(payout?.id as PayoutId, CANCELLED);
    expect((await page(token)).text).not.toContain('Sent after');
  });

  it('pays nothing while the shop returns the deposit, and ends when the shop has accepted it', async () => {
    const id = await aDepositToReturn();
    const { body } = await giveBack(id, { claim: true });
    const token = body.data.claim_url.split('/').at(-1);
    const returned = (await giveBack(id, { address })).body.data;
    for (const status of ['claimable', 'expired']) {
      const resolved = await page(token, address);
      const decided = expect.stringContaining('The shop has decided otherwise');
      expect([resolved.status, resolved.text]).toEqual([409, decided]);
      expect(await shown(body.data.id)).toMatchObject({ status });
      if (status === 'expired') break;
      // The return fails, and then the shop accepts the deposit.
      await fail(String(returned.id) as PayoutId);
      at.fixture.ledger.reply = () => ({ outcome: 'refused' });
    }
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(body.data.id)).toHaveLength(1);
  });

  it.each([
    [{ claim: true, address }, { address: ['The address field is not known.'] }, /not both/],
    [
      { claim: true, expires_in_days: 0 },
      { expires_in_days: ['The expires in days must be at least 1.'] },
      /./,
    ],
    [{ claim: false }, { address: ['The address field is required.'] }, /"claim": true/],
    [
      { expires_in_days: 5, address },
      { expires_in_days: ['The expires in days field is not known.'] },
      /claim links/,
    ],
  ])('refuses %j', async (body, errors, hint) => {
    const answer = await giveBack(await aDepositToReturn(), body);
    expect([answer.status, answer.body]).toMatchObject([422, { errors }]);
    expect(answer.body.hint).toMatch(hint);
  });
});
