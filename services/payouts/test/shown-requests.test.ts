import { expect, it } from '@jest/globals';
import { verifyProof } from '@quittance/shared/identity';
import { gatewayPublicKeys } from '@quittance/testkit/api';
import { runAutomaticPayouts } from '../src/operations/run-automatic-payouts.ts';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { order, recipient } from './service-fixture.ts';

/** With each hold the ledger is shown the request by which the merchant has asked for it. */
const at = refundsSuite();

/** The requests that the ledger was shown, as the gateway has signed them. */
const shown = () =>
  at.fixture.ledger.asked.map(({ proof }) => {
    if (proof === undefined) return undefined;
    const body = Buffer.from(proof.body, 'base64');
    const signed = verifyProof(gatewayPublicKeys, 'payouts', { ...proof, body } as never);
    return signed && [signed.account, signed.method, signed.path, body.toString(), proof.item];
  });
const account = () => at.fixture.shop.account;
const rule = { address: recipient, schedule: 'threshold', threshold: 2 };

it('shows the request of a batch with each of its lines', async () => {
  const payouts = [order, { ...order, amount: 2 }];
  const body = JSON.stringify({ mode: 'all_or_nothing', payouts });
  expect((await at.fixture.shop.post(body, {}, '/api/payout-batches')).status).toBe(201);
  const of = (line: number) => [account(), 'POST', '/api/payout-batches', body, line];
  expect(shown().sort()).toEqual([of(1), of(2)]);
});

it('shows the request that has made a rule when the rule pays', async () => {
  await at.fixture.shop.put('/api/automatic-payouts/ETH', rule);
  at.fixture.ledger.available = (5_000n * FINNEY).toString();
  at.fixture.ledger.reply = () => ({ outcome: 'placed', amount: (4_999n * FINNEY).toString() });
  await runAutomaticPayouts(at.fixture.service.ports);
  expect(shown()).toEqual([[account(), 'PUT', '/api/automatic-payouts/ETH', JSON.stringify(rule), 0]]);
});

it('shows no request of a rule that a former release has stored', async () => {
  await at.fixture.shop.put('/api/automatic-payouts/ETH', rule);
  await at.fixture.db.rows('update automatic_payouts set assertion_id = null where account_id = $1', [
    account(),
  ]);
  at.fixture.ledger.available = (5_000n * FINNEY).toString();
  await runAutomaticPayouts(at.fixture.service.ports);
  expect(shown()).toEqual([undefined]);
});

it.each(['not_asked_for', 'link_in_use'] as const)(
  'pays nothing when the ledger refuses it as %s, and the key can be used again',
  async (because) => {
    const key = { 'idempotency-key': 'order 1' };
    at.fixture.ledger.reply = () => ({ outcome: 'refused', because });
    expect((await at.fixture.shop.post(order, key)).status).toBe(503);
    expect(await at.fixture.rowsOf(at.fixture.shop)).toMatchObject([{ status: 'voided' }]);
    const batch = { mode: 'each', payouts: [order] };
    expect((await at.fixture.shop.post(batch, {}, '/api/payout-batches')).status).toBe(503);
    at.fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await at.fixture.shop.post(order, key)).status).toBe(201);
  },
);
