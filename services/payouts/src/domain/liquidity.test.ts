import { expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { type Rate, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import { aRate } from '@quittance/testkit/builders';
import fc from 'fast-check';
import { economicalSweeps, liquidityOf, type OpenSum, type SweepOffer } from './liquidity.ts';

const balances = new Map<AssetSymbol, ReturnType<typeof units>>([
  ['ETH', units(1_000n)],
  ['USDC_ERC20', units(500n)],
]);
const anOpen = (given: Partial<OpenSum>): OpenSum => ({
  purpose: 'payout',
  asset: 'ETH',
  paidByHot: true,
  inBlock: false,
  hasReversedDeposit: false,
  amount: units(100n),
  maxCost: units(7n),
  ...given,
});
const liquidity = (...open: OpenSum[]) => {
  const { free, incoming } = liquidityOf('ethereum', balances, open);
  return {
    free: [free.get('ETH'), free.get('USDC_ERC20')],
    incoming: [incoming.get('ETH'), incoming.get('USDC_ERC20')],
  };
};

it.each([
  ['nothing is open', [], [1_000n, 500n], [undefined, undefined]],
  ['a payout of Ether is signed', [anOpen({})], [893n, 500n], [undefined, undefined]],
  ['it is in a block', [anOpen({ inBlock: true })], [1_000n, 500n], [undefined, undefined]],
  ['a payout of tokens is signed', [anOpen({ asset: 'USDC_ERC20' })], [993n, 400n], [undefined, undefined]],
  [
    'tokens are being swept, at our cost',
    [anOpen({ purpose: 'sweep', asset: 'USDC_ERC20' })],
    [993n, 500n],
    [undefined, 100n],
  ],
  [
    'swept tokens are in a block that may be dropped',
    [anOpen({ purpose: 'sweep', asset: 'USDC_ERC20', inBlock: true })],
    [1_000n, 400n],
    [undefined, 100n],
  ],
  [
    'Ether is being swept, at the cost of its address',
    [anOpen({ purpose: 'sweep', paidByHot: false })],
    [1_000n, 500n],
    [100n, undefined],
  ],
  [
    'what is being swept was reversed',
    [anOpen({ purpose: 'sweep', paidByHot: false, hasReversedDeposit: true })],
    [1_000n, 500n],
    [undefined, undefined],
  ],
])('%s', (_name, open, free, incoming) => {
  expect(liquidity(...open)).toEqual({ free, incoming });
});

const rates = new Map<AssetSymbol, Rate>([
  ['ETH', aRate('2000')],
  ['USDC_ERC20', aRate('1')],
]);
const GWEI = 10n ** 9n;
/** 0.001 Ether, two dollars. */
const COST = 1_000_000n * GWEI;
const dollars = (whole: bigint): SweepOffer => ({
  asset: 'USDC_ERC20',
  net: units(whole * 1_000_000n),
  fee: units(COST),
});
const plenty = 100n * COST;

it('a sweep is economical from two hundred times its cost on', () => {
  const ether = { asset: 'ETH', fee: units(COST) } as const;
  expect(economicalSweeps([dollars(400n)], 'ETH', rates, plenty, 5)).toHaveLength(1);
  expect(economicalSweeps([dollars(399n)], 'ETH', rates, plenty, 5)).toEqual([]);
  expect(economicalSweeps([{ ...ether, net: units(200n * COST) }], 'ETH', rates, plenty, 5)).toHaveLength(1);
  expect(economicalSweeps([{ ...ether, net: units(200n * COST - 1n) }], 'ETH', rates, plenty, 5)).toEqual([]);
});

it('a sweep without a fee is economical when it brings anything', () => {
  const free = (net: bigint): SweepOffer => ({ ...dollars(0n), net: units(net), fee: units(0n) });
  expect(economicalSweeps([free(0n), free(1n)], 'ETH', rates, plenty, 5)).toEqual([free(1n)]);
});

it('no sweep is economical without both rates', () => {
  for (const missing of ['ETH', 'USDC_ERC20'] as const) {
    const known = new Map(rates);
    known.delete(missing);
    expect(economicalSweeps([dollars(1_000_000n)], 'ETH', known, plenty, 5)).toEqual([]);
  }
});

it('the most valuable sweeps are chosen, and no more than can be paid for', () => {
  const offers = [dollars(500n), dollars(900n), dollars(700n)];
  expect(economicalSweeps(offers, 'ETH', rates, plenty, 2)).toEqual([offers[1], offers[2]]);
  expect(economicalSweeps(offers, 'ETH', rates, 4n * COST, 5)).toEqual([offers[1]]);
  expect(economicalSweeps(offers, 'ETH', rates, -1n, 5)).toEqual([]);
});

it('economical sweeps cost at most a quarter of what is free, and each brings enough', async () => {
  const offer = fc.record({ net: fc.bigInt(0n, 10n ** 12n), fee: fc.bigInt(1n, 10n ** 18n) });
  await assertProperty(
    fc.property(fc.array(offer, { maxLength: 20 }), fc.bigInt(0n, 10n ** 19n), (given, free) => {
      const offers = given.map(({ net, fee }) => ({
        asset: 'USDC_ERC20' as const,
        net: units(net),
        fee: units(fee),
      }));
      const chosen = economicalSweeps(offers, 'ETH', rates, free, 5);
      expect(chosen.length).toBeLessThanOrEqual(5);
      expect(chosen.reduce((sum, one) => sum + one.fee, 0n) * 4n).toBeLessThanOrEqual(free);
      // A millionth of a dollar is worth 500 million wei at 2,000 dollars.
      for (const { net, fee } of chosen) expect(fee * 200n).toBeLessThanOrEqual(net * 500_000_000n);
    }),
  );
});
