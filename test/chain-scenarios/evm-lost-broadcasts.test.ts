import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits } from '@quittance/shared/money';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { seeded } from '@quittance/testkit/seeded';
import type { Hex } from 'viem';
import { type Asset, type EvmChain, startEvmChain } from './evm-chain.ts';
import { evmMerchants } from './evm-merchants.ts';
import { type MoneyOut, type Payout, startMoneyOut } from './money-out.ts';
import { seedOr, sized } from './size.ts';

/**
 * A quarter of all broadcasts reach the node and lose their answer: the service cannot know whether they arrived.
 * Nevertheless each payout is exactly one transaction, of exactly its amount.
 */
const PAYOUTS = sized(100, 500);
const MERCHANTS = 5;
const LOST = 0.25;
const SEED_OF_FAILURES = seedOr(25);
const CONFIRMATIONS = 3;
const LIMIT_MS = 240_000;
const BLOCK_EVERY_MS = 200;
const ETHER = 10n ** 18n;
const decimals = { ETH: 18, USDC_ERC20: 6 } as const;

let chain: EvmChain;
let proxy: FaultProxy;
let treasury: MoneyOut;

beforeAll(async () => {
  chain = await startEvmChain({ payers: 2 });
  proxy = await startFaultProxy(chain.node.rpcUrl, SEED_OF_FAILURES);
  proxy.set({ kind: 'lose answers', methods: { eth_sendRawTransaction: LOST } });
  treasury = await startMoneyOut(
    {
      ETH: { rate: '2500', confirmations: CONFIRMATIONS },
      USDC_ERC20: { rate: '1', confirmations: CONFIRMATIONS },
    },
    { ETHEREUM_RPC_URL: proxy.url, ETHEREUM_CHAIN_ID: '31337', ETHEREUM_USDC_ADDRESS: chain.usdc },
  );
});
afterAll(async () => {
  await treasury?.stop();
  await proxy?.close();
  await chain?.stop();
});

it(`${PAYOUTS} payouts, a quarter of their broadcasts unanswered: one transaction each`, async () => {
  const accounts = await evmMerchants(chain, treasury, MERCHANTS, ETHER);
  const random = seeded(SEED_OF_FAILURES);
  const orders = Array.from({ length: PAYOUTS }, (_, i) => {
    const asset: Asset = i % 3 === 0 ? 'USDC_ERC20' : 'ETH';
    // No two alike, so that a payment can be told by its amount as well.
    const amount = BigInt(1 + Math.floor(random() * 1_000)) * 10_000n + BigInt(i);
    const to = `0x${(0xfeed_0000 + i).toString(16).padStart(40, 'b')}`;
    return { asset, amount, to, text: formatUnits(amount as never, decimals[asset]) };
  });
  const payouts: Payout[] = [];
  for (const [i, order] of orders.entries()) {
    payouts.push(await treasury.payout(accounts[i % MERCHANTS] as AccountId, order));
  }

  const deadline = Date.now() + LIMIT_MS;
  while ((await treasury.pending()) > 0) {
    if (Date.now() > deadline)
      throw new Error(`${await treasury.pending()} payouts have not come to their end`);
    await chain.mineEmpty(1);
    await new Promise((resolve) => setTimeout(resolve, BLOCK_EVERY_MS));
  }
  await treasury.heard();

  const paid = await chain.paymentsTo(payouts.map(({ to }) => to));
  const ended = await treasury.ended(payouts);
  expect(ended.filter(({ status }) => status !== 'mined')).toEqual([]);
  for (const { to, asset, amount, txHash } of ended) {
    expect({ to, paid: paid.get(to) }).toEqual({ to, paid: [{ asset, amount, txHash }] });
    expect(await chain.balance(asset as Asset, to as Hex)).toBe(amount);
  }
  const { asked, lost } = proxy.counted('eth_sendRawTransaction');
  expect(asked).toBeGreaterThanOrEqual(PAYOUTS);
  expect(lost).toBeGreaterThan((PAYOUTS * LOST) / 2);
  expect(await treasury.discrepancies(['I1', 'I2', 'I3', 'I4'])).toEqual([]);
});
