import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { type Bus, connectBus } from '../src/bus.ts';
import { createLogger } from '../src/logger.ts';
import {
  type FeeEstimate,
  type FeeEstimateBoard,
  publishFeeEstimates,
  watchFeeEstimates,
} from '../src/quotes.ts';

const logger = createLogger('test', 'silent');
const MINUTE_MS = 60_000;
let nats: Awaited<ReturnType<typeof testNats>>;
let payouts: Bus;
let ledger: Bus;
let board: FeeEstimateBoard;
let now = new Date('2026-01-02T03:04:05.000Z');

beforeAll(async () => {
  nats = await testNats();
  payouts = await connectBus({ url: nats.url, service: 'payouts', logger });
  ledger = await connectBus({ url: nats.url, service: 'ledger', logger });
  board = watchFeeEstimates(ledger, { now: () => now }, logger);
});
afterAll(async () => {
  await board.stop();
  await Promise.all([payouts.close(), ledger.close()]);
  await nats.stop();
});

const anEstimate = (other: Partial<FeeEstimate> = {}): FeeEstimate => ({
  asset: 'USDC_ERC20',
  chain: 'ethereum',
  native_cost: '1300000000000000',
  as_of: now.toISOString(),
  ...other,
});

test('an estimate that is told is seen, the newest of each asset, until it is too old', async () => {
  expect(board.fresh('BTC', MINUTE_MS)).toBeUndefined();
  await publishFeeEstimates(payouts, [anEstimate(), anEstimate({ asset: 'ETH', native_cost: '1' })]);
  await publishFeeEstimates(payouts, [anEstimate({ asset: 'ETH', native_cost: '2' })]);
  await eventually(() => expect(board.fresh('ETH', MINUTE_MS)?.native_cost).toBe('2'));
  expect(board.fresh('USDC_ERC20', MINUTE_MS)).toEqual(anEstimate());
  const told = now;
  now = new Date(told.getTime() + MINUTE_MS);
  expect(board.fresh('ETH', MINUTE_MS)?.native_cost).toBe('2');
  now = new Date(told.getTime() + MINUTE_MS + 1);
  expect(board.fresh('ETH', MINUTE_MS)).toBeUndefined();
});

test('what is no estimate is passed over, and what comes after it is seen', async () => {
  const kv = await payouts.kv('fee_estimates');
  await kv.put('SOL', '{"asset":"SOL","chain":"solana","native_cost":"-1"}');
  await kv.put('SOL', 'no json');
  await publishFeeEstimates(payouts, [anEstimate({ asset: 'BTC', chain: 'bitcoin', native_cost: '3' })]);
  await eventually(() => expect(board.fresh('BTC', MINUTE_MS)?.native_cost).toBe('3'));
  expect(board.fresh('SOL', MINUTE_MS)).toBeUndefined();
});
