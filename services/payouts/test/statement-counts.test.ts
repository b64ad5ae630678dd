import { expect, test } from '@jest/globals';
import { statementsOf } from '@quittance/testkit/count-statements';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { order, requestsSuite } from './service-fixture.ts';

const fixture = requestsSuite();

test('a payout takes as many statements, events and questions to the ledger as are recorded', async () => {
  const { shop, ledger } = fixture;
  await shop.post(order);
  ledger.asked.length = 0;
  let id = '';
  const created = await statementsOf('payouts', async () => {
    const { status, body } = await shop.post(order);
    expect(status).toBe(201);
    id = String(body.data.id);
  });
  const events = await fixture.published(id as Parameters<typeof fixture.published>[0]);
  const shown = await statementsOf('payouts', () => shop.get(`/api/payouts/${id}`));
  const today = {
    'POST /api/payouts': created,
    'GET /api/payouts/{id}': shown,
    events,
    'questions to the ledger': ledger.asked.length,
  };
  expect(today).toEqual(recordedCounts(new URL('statement-counts.json', import.meta.url), today));
});
