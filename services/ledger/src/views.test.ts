import { expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import type { AssetRow } from './store/quotes.ts';
import { assetView, balanceView, byAssetId, quoteView } from './views.ts';

const eth: AssetRow = {
  symbol: 'ETH',
  active: true,
  minConfirmations: 12,
  networkFee: units('500000000000000'),
  dust: units('10000000000000'),
  usdRate: '2500.500000000000000000',
  spreadBps: 7,
  sources: [{ name: 'file', usd_rate: '2500.5', read_at: '2026-01-02T03:04:05.000Z' }],
  asOf: new Date('2026-01-02T03:04:05.000Z'),
};

it.each([
  ['0', '0', { balance: '0', usd_value: '0', held: '0' }],
  ['1500000000000000000', '1', { balance: '1.5', usd_value: '3750.75', held: '0.000000000000000001' }],
  // 0.000003999… × 2500.5 is a hair under one cent.
  ['3999200159968', '0', { balance: '0.000003999200159968', usd_value: '0', held: '0' }],
  ['3999200159969', '0', { balance: '0.000003999200159969', usd_value: '0.01', held: '0' }],
  ['400000000000000', '0', { balance: '0.0004', usd_value: '1', held: '0' }],
])('a balance of %s with %s held', (available, held, shown) => {
  expect(balanceView({ ...eth, available: units(available), held: units(held) })).toStrictEqual({
    asset: assetView(eth),
    ...shown,
  });
});

it('an asset without any rate yet is worth nothing that could be used', () => {
  const unknown = { ...eth, usdRate: null, spreadBps: null, sources: null, asOf: null };
  expect(
    balanceView({ ...unknown, available: units('5000000000000000000'), held: units('0') }),
  ).toMatchObject({
    asset: { usd_rate: '0' },
    balance: '5',
    usd_value: '0',
  });
  expect(quoteView(unknown)).toMatchObject({ usd_rate: '0', sources: [], as_of: '1970-01-01T00:00:00.000Z' });
});

it('a quote carries what other services decide with, in smallest units', () => {
  expect(quoteView(eth)).toStrictEqual({
    asset: 'ETH',
    active: true,
    usd_rate: '2500.5',
    network_fee: '500000000000000',
    min_confirmations: 12,
    dust: '10000000000000',
    sources: [{ name: 'file', usd_rate: '2500.5', read_at: '2026-01-02T03:04:05.000Z' }],
    spread_bps: 7,
    as_of: '2026-01-02T03:04:05.000Z',
  });
});

it('assets come in the order of their ids', () => {
  const rows = [{ ...eth, symbol: 'USDC_ERC20' as const }, eth, { ...eth, symbol: 'BTC' as const }];
  expect(rows.sort(byAssetId).map((row) => row.symbol)).toEqual(['BTC', 'ETH', 'USDC_ERC20']);
});
