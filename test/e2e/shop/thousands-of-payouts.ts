import { expect, test } from '@jest/globals';
import { sized } from '../../chain-scenarios/size.ts';
import { balanceOf, merchantWith, type OnStack } from './on-stack.ts';

/** Of a dollar each. */
const PAYOUTS = sized(600, 2_000);
const COVERED = PAYOUTS / 2;

export const thousandsOfPayouts = (stack: OnStack): void =>
  test(`${PAYOUTS} payouts at once on a balance that covers ${COVERED}: exactly ${COVERED} are accepted`, async () => {
    // Each takes a network fee of a dollar too.
    const shop = await merchantWith(stack(), 'USDC_ERC20', PAYOUTS);
    const to = await stack().ethereum.newAddress();
    const answers = await Promise.all(
      Array.from({ length: PAYOUTS }, () =>
        shop.post('/api/payouts', { asset: 'USDC_ERC20', amount: 1, address: to }),
      ),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(201), count(400)]).toEqual([COVERED, PAYOUTS - COVERED]);
    expect(new Set(answers.filter((a) => a.status === 201).map((a) => a.body.data.id)).size).toBe(COVERED);
    expect(await balanceOf(shop, 'USDC_ERC20')).toMatchObject({ balance: '0' });
  });
