import { describe, expect, it } from '@jest/globals';
import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { parseUnits, type Units, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import { aRate } from '@quittance/testkit/builders';
import fc from 'fast-check';
import { changedFees, type FeePolicy, networkFeeFor } from './network-fee.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const amountOf = (asset: AssetSymbol, text: string): Units => {
  const amount = parseUnits(text, assets[asset].decimals);
  if (!amount.ok) throw new Error(text);
  return amount.value;
};
const aPolicy = (symbol: AssetSymbol, usd: string | null, other: Partial<FeePolicy> = {}): FeePolicy => ({
  symbol,
  networkFee: units(1n),
  marginPercent: 200n,
  floor: units(1n),
  cap: units(10n ** 30n),
  rate: usd === null ? null : { usd: aRate(usd), asOf: now },
  ...other,
});
const policy = (networkFee: bigint, floor = 10n, cap = 1_000_000n, marginPercent = 150n) => ({
  networkFee: units(networkFee),
  floor: units(floor),
  cap: units(cap),
  marginPercent,
});

describe('the network fee', () => {
  it.each([
    ['rises at once', 1_000n, 100n, 1_500n],
    ['is rounded up to two digits', 1_001n, 100n, 1_600n],
    ['rises by the smallest step', 1_000n, 1_499n, 1_500n],
    ['stays while it would fall by less than a fifth', 1_000n, 1_874n, 1_874n],
    ['falls by a fifth', 1_000n, 1_875n, 1_500n],
    ['is never below the floor', 0n, 100n, 10n],
    ['is never above the cap', 10n ** 18n, 100n, 1_000_000n],
    ['that is at the cap stays, too', 600_000n, 1_000_000n, 1_000_000n],
    ['that is above the cap comes down to it', 10n ** 18n, 1_000_001n, 1_000_000n],
    ['that is below the floor goes up to it', 0n, 9n, 10n],
  ])('%s', (_what, cost, current, fee) => {
    expect(networkFeeFor(units(cost), policy(current))).toBe(fee);
  });

  it('covers the cost and its margin up to the cap, keeps still, and needs one look', async () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 24n });
    await assertProperty(
      fc.property(amount, amount, fc.bigInt({ min: 100n, max: 400n }), (cost, current, margin) => {
        const given = policy(current, 10n, 10n ** 22n, margin);
        const fee = networkFeeFor(units(cost), given);
        expect(fee >= 10n && fee <= 10n ** 22n).toBe(true);
        expect(fee * 100n >= cost * margin || fee === 10n ** 22n).toBe(true);
        expect(networkFeeFor(units(cost), { ...given, networkFee: fee })).toBe(fee);
      }),
    );
  });

  it('does not flicker with a cost that goes up and down by a tenth', () => {
    let fee = units(1n);
    const shown = new Set<bigint>();
    for (let i = 0; i < 100; i++) {
      fee = networkFeeFor(units(i % 2 === 0 ? 10_000n : 9_000n), policy(fee));
      shown.add(fee);
    }
    expect(shown.size).toBe(1);
  });
});

describe('a chain’s cost', () => {
  const eth = aPolicy('ETH', '2500');
  const usdc = aPolicy('USDC_ERC20', '0.9999');
  const cost = new Map<AssetSymbol, Units>([
    ['ETH', amountOf('ETH', '0.00021')],
    ['USDC_ERC20', amountOf('ETH', '0.00065')],
  ]);
  const feesOf = (policies: readonly FeePolicy[], at = now) =>
    changedFees(policies, (asset) => cost.get(asset), at);

  it('is paid in the asset, at the rates of now', () => {
    // 2 × 0.00021 ETH; 2 × 0.00065 × 2500 / 0.9999 = 3.2503… USDC
    expect(feesOf([eth, usdc])).toEqual([
      { symbol: 'ETH', networkFee: amountOf('ETH', '0.00042') },
      { symbol: 'USDC_ERC20', networkFee: amountOf('USDC_ERC20', '3.3') },
    ]);
  });

  it.each<[string, FeePolicy[], Date, AssetSymbol[]]>([
    ['of the native asset', [aPolicy('ETH', null), usdc], now, ['ETH']],
    ['of the token', [eth, aPolicy('USDC_ERC20', null)], now, ['ETH']],
    ['of the last ten minutes', [eth, usdc], new Date(now.getTime() + 600_001), ['ETH']],
  ])('without a rate %s leaves the token’s fee', (_what, policies, at, changed) => {
    expect(feesOf(policies, at).map(({ symbol }) => symbol)).toEqual(changed);
  });

  it('is computed with a rate that is ten minutes old', () => {
    expect(feesOf([eth, usdc], new Date(now.getTime() + 600_000))).toHaveLength(2);
  });

  it('that nobody knows leaves the fee', () => {
    expect(changedFees([eth, usdc], () => undefined, now)).toEqual([]);
  });

  it('is only told where the fee changes', () => {
    const [change] = feesOf([eth]);
    expect(feesOf([{ ...eth, networkFee: change?.networkFee ?? units(0n) }])).toEqual([]);
  });

  it('of every asset is in its own chain’s native asset', () => {
    const policies = assetSymbols.map((symbol) => aPolicy(symbol, '1', { marginPercent: 100n }));
    const one = (asset: AssetSymbol) =>
      amountOf(
        ({ bitcoin: 'BTC', ethereum: 'ETH', solana: 'SOL', base: 'ETH_BASE', polygon: 'POL' } as const)[
          assets[asset].chain
        ],
        '1',
      );
    for (const { symbol, networkFee } of changedFees(policies, one, now)) {
      expect(networkFee).toBe(amountOf(symbol, '1'));
    }
  });
});
