import { expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import { liquidityOf, type OpenSum } from './available-liquidity.ts';

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
