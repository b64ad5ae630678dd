import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

const CONFIRMATIONS = 3;
let quittance: Quittance;

beforeAll(async () => {
  quittance = await startQuittance({ confirmations: CONFIRMATIONS });
});
afterEach(async () => {
  await eventually(async () => expect((await quittance.books()).breaches).toEqual([]));
});
afterAll(() => quittance?.stop());

let addresses = 0;
/** An address that nobody has used yet. */
const newAddress = () => `0x${(++addresses).toString(16).padStart(8, '0')}${'5e'.repeat(16)}`;

/** A merchant whose balance came in as customers' payments. */
async function merchantWith(asset: 'ETH' | 'USDC_ERC20', dollars: number): Promise<Merchant> {
  const shop = await quittance.merchant();
  const { body } = await shop.post('/api/invoices', { asset, amount: dollars });
  await quittance.ethereum.pay(asset, body.data.address.address, body.data.amount);
  await quittance.ethereum.mine(CONFIRMATIONS);
  await eventually(async () =>
    expect((await shop.get(`/api/invoices/${body.data.id}`)).body.status).toBe('paid'),
  );
  return shop;
}

async function balance(shop: Merchant, asset: string): Promise<{ balance: string; held: string }> {
  const { body } = await shop.get('/api/balances');
  return body.data.find((entry: { asset: { symbol: string } }) => entry.asset.symbol === asset);
}

async function payout(shop: Merchant, id: number): Promise<{ status: string; tx_hash: string | null }> {
  const { body } = await shop.get('/api/payouts?perPage=100');
  return body.data.find((one: { id: number }) => one.id === id);
}

/** Blocks come until the payout is mined: a sweep may have to go first. */
const minedAtLast = (shop: Merchant, id: number) =>
  eventually(
    async () => {
      await quittance.ethereum.mine();
      expect(await payout(shop, id)).toMatchObject({ status: 'mined', failed_reason: '' });
    },
    30_000,
    200,
  );

test('a payout of ETH is held at once, mined later, and leaves exactly its amount and fee', async () => {
  const shop = await merchantWith('ETH', 1_000);
  const to = newAddress();
  const before = await balance(shop, 'ETH');
  expect(before).toMatchObject({ balance: '0.4', held: '0' });

  const made = await shop.post('/api/payouts', { asset: 'ETH', amount: 0.1, address: to });
  expect(made).toMatchObject({
    status: 201,
    body: { message: expect.any(String), data: { id: expect.any(Number) } },
  });
  expect(Object.keys(made.body.data)).toEqual(['id']);
  expect(await payout(shop, made.body.data.id)).toMatchObject({ status: 'pending', amount: '0.1' });
  const held = await balance(shop, 'ETH');
  expect(held).toMatchObject({ balance: '0.2995', held: '0.1005' });

  await minedAtLast(shop, made.body.data.id);
  expect(await quittance.ethereum.balance('ETH', to)).toBe(10n ** 17n);
  await eventually(async () =>
    expect(await balance(shop, 'ETH')).toMatchObject({ balance: '0.2995', held: '0' }),
  );
});

test('USDC that came in is swept to the hot wallet and leaves again', async () => {
  const shop = await merchantWith('USDC_ERC20', 500);
  const to = newAddress();
  const { body } = await shop.post('/api/payouts', { asset: 'USDC_ERC20', amount: '450.25', address: to });
  await minedAtLast(shop, body.data.id);
  expect(await quittance.ethereum.balance('USDC_ERC20', to)).toBe(450_250_000n);
});

test('ETH beyond what the hot wallet has is swept from the deposits first', async () => {
  const shop = await merchantWith('ETH', 50_000);
  const to = newAddress();
  const { body } = await shop.post('/api/payouts', { asset: 'ETH', amount: 19, address: to });
  await minedAtLast(shop, body.data.id);
  expect(await quittance.ethereum.balance('ETH', to)).toBe(19n * 10n ** 18n);
});

test('a balance below amount plus fee is refused, and nothing is held', async () => {
  const shop = await merchantWith('ETH', 100);
  const refused = await shop.post('/api/payouts', { asset: 'ETH', amount: '0.04', address: newAddress() });
  expect(refused).toMatchObject({ status: 400, body: { message: 'Insufficient balance' } });
  expect(await balance(shop, 'ETH')).toMatchObject({ balance: '0.04', held: '0' });
  expect((await shop.get('/api/payouts')).body.data).toEqual([]);
});

test('while the node is down a payout stays pending, and completes when it is back', async () => {
  const shop = await merchantWith('ETH', 1_000);
  const to = newAddress();
  // Stopped in order, so that it writes its chain down.
  await quittance.stack.engines.ethereum.stop();
  const { status, body } = await shop.post('/api/payouts', { asset: 'ETH', amount: 0.05, address: to });
  expect(status).toBe(201);
  expect(await payout(shop, body.data.id)).toMatchObject({ status: 'pending', tx_hash: null });
  await quittance.stack.engines.ethereum.restart();
  await minedAtLast(shop, body.data.id);
  expect(await quittance.ethereum.balance('ETH', to)).toBe(5n * 10n ** 16n);
});

test('2,000 payouts at once on a balance that covers 1,000: exactly 1,000 are accepted', async () => {
  const shop = await merchantWith('USDC_ERC20', 2_000);
  const to = newAddress();
  const answers = await Promise.all(
    Array.from({ length: 2_000 }, () =>
      shop.post('/api/payouts', { asset: 'USDC_ERC20', amount: 1, address: to }),
    ),
  );
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect([count(201), count(400)]).toEqual([1_000, 1_000]);
  expect(new Set(answers.filter((a) => a.status === 201).map((a) => a.body.data.id)).size).toBe(1_000);
  expect(await balance(shop, 'USDC_ERC20')).toMatchObject({ balance: '0' });
});
