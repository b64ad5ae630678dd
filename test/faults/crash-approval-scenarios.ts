import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { type ApiAnswer, merchant } from '@quittance/testkit/merchant';
import type { CrashFixture } from './crash-fixture.ts';
import { expectPaidOut, type Scenario, STEP_MS } from './crash-scenarios.ts';

/* Payouts that wait for an approval. Nothing else pays so much, so the policy concerns only them. */

const AMOUNT = '0.6';
const policy = { limits: [{ asset: 'ETH', approval_above: 0.5, approvals: 1 }], delay_hours: 0 };

/** Sends the same until it is answered so; it may be sent again. */
async function until(status: number, send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  const answers: ApiAnswer[] = [];
  await eventually(async () => {
    const answer = await send();
    expect(answer.status).toBe(status);
    answers.push(answer);
  }, STEP_MS);
  return answers[0] as ApiAnswer;
}

/** A payout that another token approves is paid once. */
export const approved: Scenario = async (fixture: CrashFixture) => {
  const { quittance, shop } = fixture;
  await until(200, () => shop.put('/api/payout-policy', policy));
  const { body: made } = await until(201, () => shop.post('/api/tokens', { name: 'approver' }));
  const approver = merchant(quittance.url, shop.id, made.data.token);
  const to = await fixture.customerOf('ETH').newAddress();
  const { status, body } = await fixture.insist('/api/payouts', {
    asset: 'ETH',
    amount: AMOUNT,
    address: to,
  });
  expect(status).toBe(201);
  const { id } = body.data;
  expect((await until(200, () => shop.get(`/api/payouts/${id}`))).body).toMatchObject({
    status: 'pending',
    approval: { status: 'waiting' },
  });
  await until(200, () => approver.post(`/api/payouts/${id}/approve`, {}));
  return async () => await expectPaidOut(fixture, { id, asset: 'ETH', amount: AMOUNT, to });
};
