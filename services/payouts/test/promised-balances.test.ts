import { expect, it } from '@jest/globals';
import { runAutomaticPayouts } from '../src/operations/run-automatic-payouts.ts';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address } from './service-fixture.ts';

/** What claim links promise of a balance. */
const at = refundsSuite();
const { shown, cancel, aLink, aDepositToReturn, giveBack } = at;

it('a claim link that is open keeps its amount and its network fee out of an automatic payout, and a quote tells the amount', async () => {
  const { refundId } = await aLink();
  const ended = await aLink();
  await cancel(ended.refundId);
  const ofDeposit = await giveBack(await aDepositToReturn(), { claim: true });
  expect(ofDeposit.status).toBe(201);
  const quote = await at.fixture.shop.get('/api/payouts/quote?asset=ETH&amount=1');
  expect(quote.body).toMatchObject({ amount: '1', promised_amount: '0.05' });
  const rule = { address, schedule: 'threshold', threshold: '0.04' };
  await at.fixture.shop.put('/api/automatic-payouts/ETH', rule);
  // Of 0.1, 0.05 and two network fees stay.
  at.fixture.ledger.available = (100n * FINNEY).toString();
  expect(await runAutomaticPayouts(at.fixture.service.ports)).toBe(1);
  const { data } = (await at.fixture.shop.get('/api/payouts')).body;
  expect(data).toMatchObject([{ automatic: true, amount: '0.049' }]);
  expect(at.fixture.ledger.asked).toMatchObject([{ amount: (49n * FINNEY).toString() }]);
  expect(at.fixture.ledger.asked).not.toMatchObject([{ takes_all: true }]);
  expect(await shown(refundId)).toMatchObject({ status: 'claimable' });
  await at.fixture.shop.delete('/api/automatic-payouts/ETH');
});
