import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { payOnce } from '@quittance/payouts/http/pay-once';
import { readPayoutOrder } from '@quittance/payouts/payout-order';
import { requestProofOf } from '@quittance/testkit/api';
import { type Operation, returned } from './interleave.ts';
import { payoutsAndLedger } from './payouts-and-ledger.ts';

let at: Awaited<ReturnType<typeof payoutsAndLedger>>;
beforeAll(async () => {
  at = await payoutsAndLedger();
});
afterAll(() => at?.close());

it('creates one payout for two requests with one Idempotency-Key', async () => {
  const answers = new Set<number>();
  await at.replicas.inEveryOrder(async (interleave) => {
    const account = await at.anAccount();
    const holds: string[] = [];
    const body = { asset: 'ETH', amount: '0.00000000000000003', address: `0x${'a1'.repeat(20)}` };
    const asserted = { method: 'POST', path: '/api/payouts', body: JSON.stringify(body) };
    // Each request has an assertion of its own.
    const call = () => ({
      ...{ account, requestId: 'req_pay', idempotencyKey: 'order 1', returnsDeposit: null },
      ...{ request: requestProofOf(account, asserted), asked: Buffer.from(asserted.body) },
    });
    const paying = (): Operation<{ status: number; body: object }> => ({
      pausesBefore: ['idempotency_insert', 'commit'],
      async run(on) {
        const ports = at.portsOf(on, account, holds);
        return await payOnce(ports, call(), () => readPayoutOrder(body, ports));
      },
    });
    const { a, b } = await interleave(paying(), paying());
    const both = [returned(a), returned(b)];
    for (const { status } of both) answers.add(status);
    const [first] = both.filter(({ status }) => status === 201);
    // The other one gets the same answer, or comes while the first one is being carried out.
    for (const { status, body: answered } of both)
      expect([status, status === 201 ? answered : first?.body]).toEqual([
        status === 409 ? 409 : 201,
        first?.body,
      ]);
    expect(holds).toHaveLength(1);
    const made = await at.db.rows('select id::text as id from payouts where account_id = $1', [account]);
    expect(made).toEqual([{ id: holds[0] }]);
    const { status, headers } = await payOnce(at.portsOf(at.db, account, holds), call(), () => {
      throw new Error('a request that was answered is not read again');
    });
    expect([status, headers]).toEqual([201, { 'Idempotent-Replayed': 'true' }]);
  });
  expect([...answers].sort()).toEqual([201, 409]);
});
