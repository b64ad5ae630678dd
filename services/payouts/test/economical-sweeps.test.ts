import { expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { FeeEstimate } from '@quittance/shared/quotes';
import { publishFees } from '../src/operations/publish-fees.ts';
import { type EngineFixture, ETHER, engineSuite } from './engine-fixture.ts';
import { depositAddress, HOT, MAX_FEE } from './scripted-chain.ts';
import { TestBoard } from './service-client.ts';

/** What the chain worker does when it has prices: economical sweeps, and publishing fees. */
let fixture: EngineFixture;
let board: TestBoard;
engineSuite((fresh) => {
  fixture = fresh;
  board = new TestBoard();
  board.set('USDC_ERC20', { usd_rate: '1', min_confirmations: 2 });
  fixture.ports.quotes = board;
});

const swept = () =>
  fixture.db.rows(
    `select swept_address, asset, min_confirmations from transactions where purpose = 'sweep' order by id`,
  );

it('deposits that no payout needs are swept when the fee is a small part of them', async () => {
  fixture.chain.fund('ETH', HOT, ETHER);
  await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
  await fixture.deposit(2, 'ETH', ETHER);
  // 21,000 gas at 10 wei.
  await fixture.deposit(3, 'ETH', 150n * 21_000n * MAX_FEE);
  await fixture.run();
  expect(await swept()).toEqual([
    { swept_address: depositAddress(2), asset: 'ETH', min_confirmations: 3 },
    { swept_address: depositAddress(1), asset: 'USDC_ERC20', min_confirmations: 2 },
  ]);
  await fixture.finish();
  expect(await swept()).toHaveLength(2);
  expect(fixture.chain.balance('USDC_ERC20', HOT)).toBe(5_000_000n);
});

it('no economical sweep is made without fresh prices, at a high price of gas, or while payouts wait', async () => {
  fixture.chain.fund('ETH', HOT, ETHER);
  await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
  board.isFresh = false;
  await fixture.run();
  board.isFresh = true;
  // 150,000 gas at this price are more than three cents, for five dollars.
  fixture.chain.leastFee = 10n ** 8n;
  await fixture.run();
  fixture.chain.leastFee = MAX_FEE;
  await fixture.reserve({ amount: 1_000n * ETHER });
  await fixture.run();
  expect(await swept()).toEqual([]);
});

it('economical sweeps are made a few at a time, each address once', async () => {
  fixture.chain.fund('ETH', HOT, ETHER);
  for (let index = 0; index < 7; index++) await fixture.deposit(index, 'USDC_ERC20', 5_000_000n);
  await fixture.deposit(0, 'USDC_ERC20', 1_000_000n);
  await fixture.run();
  expect(await swept()).toHaveLength(5);
  await fixture.run();
  await fixture.run();
  expect(await swept()).toHaveLength(7);
});

it('the cost of payouts is published, also when another asset cannot be estimated', async () => {
  const told: FeeEstimate[] = [];
  const estimatedFee = async (asset: AssetSymbol) => {
    if (asset === 'ETH') throw new Error('the node stumbles');
    return fixture.chain.sender.estimatedFee(asset);
  };
  const publish = async (estimates: readonly FeeEstimate[]) => void told.push(...estimates);
  await publishFees({ ...fixture.ports, sender: { ...fixture.chain.sender, estimatedFee } }, publish);
  const as_of = fixture.clock.now().toISOString();
  expect(told).toEqual([{ asset: 'USDC_ERC20', chain: 'ethereum', native_cost: '210000', as_of }]);
});
