import { beforeEach, describe, expect, it } from '@jest/globals';
import { api, identityOf } from '@quittance/testkit/api';
import { refundsSuite } from './refunds-fixture.ts';
import { order, recipient } from './service-fixture.ts';

/** One assertion of the gateway moves money once, whoever sends it again, and however soon. */
const at = refundsSuite();

const batch = (mode: string) => ({
  mode,
  payouts: [
    { ...order, external_id: 'a' },
    { ...order, external_id: 'b' },
  ],
});
const refundTo = async (body: object) => ({ path: `/api/invoices/${at.anInvoice()}/refunds`, body });
const returnOf = async (body: object) => ({
  path: `/api/unresolved/${await at.aDepositToReturn()}/return`,
  body,
});

const requests: [string, () => Promise<{ path: string; body: object }>][] = [
  ['a payout', async () => ({ path: '/api/payouts', body: order })],
  ['a batch of the mode each', async () => ({ path: '/api/payout-batches', body: batch('each') })],
  [
    'a batch of the mode all_or_nothing',
    async () => ({ path: '/api/payout-batches', body: batch('all_or_nothing') }),
  ],
  ['a refund to an address', () => refundTo({ amount: '20.00', address: recipient })],
  ['a refund by a claim link', () => refundTo({ amount: '20.00' })],
  ['a return of a part of a deposit', () => returnOf({ amount: '0.002', address: recipient })],
  ['a return by a claim link', () => returnOf({ amount: '0.002', claim: true })],
];

/** How often money was asked for, and how often the ledger was asked for it. */
async function moved() {
  const { account } = at.fixture.shop;
  const { n } = await at.fixture.db.one<{ n: number }>(
    `select (select count(*) from payouts where account_id = $1 and assertion_id is not null)::int
       + (select count(*) from payout_batches where account_id = $1)::int
       + (select count(*) from refunds where account_id = $1 and claim_hash is not null)::int as n`,
    [account],
  );
  return { stored: n, holds: at.fixture.ledger.asked.length };
}

/** Sends one request again and again, with the assertion of the first time. */
function signed({ path, body: given }: { path: string; body: object }) {
  const body = JSON.stringify(given);
  const identity = identityOf(at.fixture.shop.account, { method: 'POST', path, body });
  return (headers: Record<string, string> = {}, replica = 0) =>
    api(at.fixture.replicas()[replica]?.port ?? 0, 'POST', path, {
      body,
      headers: { ...identity, ...headers },
    });
}

const unauthenticated = { status: 401, body: { message: 'Unauthenticated.' } };

describe.each(requests)('the assertion of %s', (_what, request) => {
  let send: ReturnType<typeof signed>;
  beforeEach(async () => {
    at.fixture.ledger.asked.length = 0;
    send = signed(await request());
  });

  it('is refused when it is sent again, also with another Idempotency-Key', async () => {
    expect((await send({ 'idempotency-key': 'k1' })).status).toBe(201);
    const once = await moved();
    for (const headers of [{}, { 'idempotency-key': 'k2' }])
      expect(await send(headers)).toMatchObject(unauthenticated);
    // With the key of the first one it is the first one, and its answer is what that was.
    expect(await send({ 'idempotency-key': 'k1' })).toMatchObject({
      status: 201,
      headers: { 'idempotent-replayed': 'true' },
    });
    expect(await moved()).toEqual(once);
    // The key of a refused one is free.
    const { n } = await at.fixture.db.one<{ n: number }>(
      `select count(*)::int as n from idempotency_keys where account_id = $1`,
      [at.fixture.shop.account],
    );
    expect(n).toBe(1);
  });

  it('is good for one of several at once, at two replicas', async () => {
    const answers = await Promise.all([0, 1, 0, 1, 0, 1].map((replica) => send({}, replica)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401, 401]);
    const { stored, holds } = await moved();
    expect(stored).toBe(1);
    expect(holds).toBeLessThanOrEqual(2);
  });
});
