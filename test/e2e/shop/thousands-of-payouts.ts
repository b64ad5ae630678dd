import { expect, test } from '@jest/globals';
import { balanceOf, merchantWith, type OnStack } from './on-stack.ts';

export const thousandsOfPayouts = (stack: OnStack): void =>
  test('2,000 payouts at once on a balance that covers 1,000: exactly 1,000 are accepted', async () => {
    const shop = await merchantWith(stack(), 'USDC_ERC20', 2_000);
    const to = await stack().ethereum.newAddress();
    const answers = await Promise.all(
      Array.from({ length: 2_000 }, () =>
        shop.post('/api/payouts', { asset: 'USDC_ERC20', amount: 1, address: to }),
      ),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(201), count(400)]).toEqual([1_000, 1_000]);
    expect(new Set(answers.filter((a) => a.status === 201).map((a) => a.body.data.id)).size).toBe(1_000);
    expect(await balanceOf(shop, 'USDC_ERC20')).toMatchObject({ balance: '0' });
  });
