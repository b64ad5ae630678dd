import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { rent, signer, terms, transfer, USDC } from '@quittance/testkit/solana-orders';
import { hashOf } from './transaction.ts';

describe('an order', () => {
  test('gives the same bytes, always; another lifetime gives others', async () => {
    const first = await transfer();
    expect(await transfer()).toEqual(first);
    expect(hashOf(first.raw)).toBe(first.txHash);
    const blockhash = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';
    const later = await transfer({ lifetime: { ...terms.lifetime, blockhash } });
    expect(later.txHash).not.toBe(first.txHash);
  });

  test('says what it can cost at most, and how long it is valid', async () => {
    expect(await transfer()).toMatchObject({ maxCost: 5_010n, rentMax: 0n, validToHeight: 150 });
    expect(await transfer({ asset: 'USDC_SOL' })).toMatchObject({
      maxCost: 5_000n + 1_000n + rent,
      rentMax: rent,
    });
    const order = { ...terms, index: 3, balance: units(1_000_000n) };
    const [byHot, byDeposit] = await Promise.all([
      signer.signNativeSweep({ ...order, feeFrom: 'hot' }),
      signer.signNativeSweep({ ...order, feeFrom: 'deposit' }),
    ]);
    expect([byHot.maxCost, byDeposit.maxCost]).toEqual([10_010n, 5_000n]);
  });

  test('to what is no address, or of nothing, is not signed', async () => {
    await expect(transfer({ to: USDC })).rejects.toThrow('no address');
    await expect(transfer({ amount: units(0n) })).rejects.toThrow('moves something');
  });
});
