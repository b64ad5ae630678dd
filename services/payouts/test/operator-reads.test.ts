import { describe, expect, it } from '@jest/globals';
import { asOperator } from '@quittance/testkit/api';
import { order, requestsSuite } from './service-fixture.ts';

/** What the console of operators sees of payouts and hot wallets. */
const fixture = requestsSuite();

const PATH = '/api/operator/payouts';
const read = async () => {
  const { status, body } = await asOperator(fixture.service.port, 'payouts', 'GET', PATH);
  expect(status).toBe(200);
  return body;
};

describe('the console', () => {
  it('is not answered to a merchant', async () => {
    expect((await fixture.shop.get(PATH)).status).toBe(401);
  });

  it('sees how many payouts wait in which state, which are stalled, and why the signer refuses one', async () => {
    const paid = async () => (await fixture.shop.post(order)).body.data.id;
    const [id] = [await paid(), await paid()];
    const { queues, stalled, paused_assets } = await read();
    expect(queues).toEqual([{ asset: 'ETH', status: 'reserved', payouts: 2, oldest_at: expect.any(String) }]);
    expect([stalled, paused_assets]).toEqual([[], []]);
    await fixture.db.rows(
      `update payouts set created_at = now() - interval '31 minutes', signing_refused_because = 'over_limit' where id = $1`,
      [id],
    );
    expect((await read()).stalled).toEqual([
      {
        ...{
          id: String(id),
          account_id: fixture.shop.account,
          asset: 'ETH',
          amount: '1.5',
          status: 'reserved',
        },
        ...{ created_at: expect.any(String), refused_because: 'over_limit' },
      },
    ]);
  });

  it('sees the float of each hot wallet without a node, what can be swept, and the last sweeps', async () => {
    await fixture.db.rows(
      `insert into unswept_deposits (deposit_id, chain, address, derivation_index, asset, amount, state, reversed_at) values
         ('d1', 'ethereum', '0xa', 1, 'ETH', 1000000000000000000, 'held', null),
         ('d2', 'ethereum', '0xb', 2, 'ETH', 500000000000000000, 'held', null),
         ('d3', 'ethereum', '0xc', 3, 'ETH', 700000000000000000, 'held', now())`,
    );
    const { wallets, sweeps } = await read();
    const [wallet] = wallets.filter(({ chain }: { chain: string }) => chain === 'ethereum');
    expect(wallet).toMatchObject({
      ...{ hot_address: expect.stringMatching(/^0x/), signing_paused: null, has_leader: false },
      float: expect.arrayContaining([{ asset: 'ETH', balance: null, unswept: '1.5' }]),
    });
    expect(sweeps).toEqual([]);
  });
});
