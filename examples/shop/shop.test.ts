import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Quittance } from '@quittance/client';
import { type Quittance as Installation, startQuittance } from '@quittance/testkit';
import { eventually } from '@quittance/testkit/eventually';
import { openShop, type Shop } from './shop.ts';

let installation: Installation;
let quittance: Quittance;
let shop: Shop;
/** Their minute passes while the other tests run. */
let short: Bought;
let late: Bought;

before(async () => {
  installation = await startQuittance({ chains: ['bitcoin'] });
  quittance = new Quittance({ url: installation.url, token: installation.token });
  shop = await openShop({ quittance, hookUrl: installation.hookUrl, expiresInMinutes: 1 });
  short = await buy('USDC_ERC20');
  late = await buy('ETH');
  await installation.pay('USDC_ERC20', short.address, '20');
});
after(async () => {
  await shop?.close();
  await installation?.stop();
});

type Bought = { id: string; address: string; amount: string };

/** Buys a shirt and chooses an asset on the payment page, as a customer does in a browser. */
async function buy(asset: string): Promise<Bought> {
  const bought = await fetch(`${shop.url}/buy/shirt`, { method: 'POST', redirect: 'manual' });
  assert.equal(bought.status, 303);
  const paymentPage = bought.headers.get('Location') ?? '';
  const form = { method: 'POST', body: new URLSearchParams({ asset }), redirect: 'manual' } as const;
  assert.equal((await fetch(`${paymentPage}/choose`, form)).status, 303);
  const id = [...shop.orders.keys()].at(-1) ?? '';
  const { address, amount } = await quittance.invoices.retrieve(shop.orders.get(id)?.invoiceId ?? '');
  return { id, address: address?.address ?? '', amount: amount ?? '' };
}

const stateOf = (id: string) => shop.orders.get(id)?.state;
const becomes = (id: string, state: string) => eventually(() => assert.equal(stateOf(id), state), 90_000);
const balanceOf = async (symbol: string) =>
  (await quittance.balances.list()).find(({ asset }) => asset.symbol === symbol)?.balance;

for (const asset of ['ETH', 'BTC'] as const) {
  test(`a customer who pays in ${asset} gets what was ordered`, async () => {
    const order = await buy(asset);
    await installation.pay(asset, order.address, order.amount);
    await becomes(order.id, 'paid');
    assert.equal(shop.orders.get(order.id)?.shipped, 1);
    assert.equal(await balanceOf(asset), order.amount);
    assert.match(await (await fetch(`${shop.url}/orders/${order.id}`)).text(), /Your order is on its way/);
  });
}

test('a customer who pays too little gets nothing yet', async () => {
  const order = await buy('USDC_ERC20');
  await installation.pay('USDC_ERC20', order.address, '24.5');
  await becomes(order.id, 'part');
  assert.equal(shop.orders.get(order.id)?.shipped, 0);
  await installation.pay('USDC_ERC20', order.address, '0.5');
  await installation.mine(2);
  await becomes(order.id, 'paid');
});

test('money that the shop sends away arrives', async () => {
  const order = await buy('ETH');
  await installation.pay('ETH', order.address, order.amount);
  await becomes(order.id, 'paid');
  const supplier = `0x${randomBytes(20).toString('hex')}`;
  const { id } = await quittance.payouts.create({ asset: 'ETH', amount: '0.001', address: supplier });
  await eventually(async () => assert.equal((await quittance.payouts.retrieve(id)).status, 'mined'), 60_000);
  assert.equal(await weiOf(supplier), 10n ** 15n);
});

test('what somebody else posts to the shop is not believed', async () => {
  const order = await buy('ETH');
  const data = { id: 'inv_1', external_id: order.id, status: 'paid' };
  const body = JSON.stringify({ event: 'invoice.paid', version: 9, data });
  const answer = await fetch(`${shop.url}/hook`, { method: 'POST', body });
  assert.equal(answer.status, 400);
  assert.equal(stateOf(order.id), 'open');
});

test('a customer who pays too little in time, or all of it too late, gets nothing and is told so', async () => {
  await becomes(short.id, 'short');
  await becomes(late.id, 'expired');
  await installation.pay('ETH', late.address, late.amount);
  await becomes(late.id, 'late');
  for (const { id } of [short, late]) {
    assert.equal(shop.orders.get(id)?.shipped, 0);
    assert.match(await (await fetch(`${shop.url}/orders/${id}`)).text(), /We will refund it/);
  }
});

/** What the chain itself says. */
async function weiOf(address: string): Promise<bigint> {
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] };
  const headers = { 'Content-Type': 'application/json' };
  const order = { method: 'POST', headers, body: JSON.stringify(call) };
  const answer = await fetch(installation.nodes.ethereum.rpc, order);
  return BigInt(((await answer.json()) as { result: string }).result);
}
