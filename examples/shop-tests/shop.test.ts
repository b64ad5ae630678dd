import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Quittance, startQuittance } from '@quittance/testkit';
import { eventually } from '@quittance/testkit/eventually';
import { openShop, type Shop } from './shop.ts';

let quittance: Quittance;
let shop: Shop;

before(async () => {
  quittance = await startQuittance({ chains: ['bitcoin'] });
  shop = await openShop(quittance.url, quittance.token, quittance.hookUrl);
});
after(async () => {
  shop?.close();
  await quittance?.stop();
});

const becomes = (id: string, status: string) =>
  eventually(() => assert.equal(shop.statuses.get(id), status), 60_000);

for (const asset of ['ETH', 'BTC'] as const) {
  test(`a customer who pays in ${asset} gets what was ordered`, async () => {
    const order = await shop.checkout(asset, 25);
    await quittance.pay(asset, order.address, order.amount);
    await becomes(order.id, 'paid');
    assert.equal(await shop.balance(asset), order.amount);
  });
}

test('a customer who pays too little gets nothing yet', async () => {
  const order = await shop.checkout('USDC_ERC20', 25);
  await quittance.pay('USDC_ERC20', order.address, '24.5');
  await becomes(order.id, 'partially_paid');
  await quittance.pay('USDC_ERC20', order.address, '0.5');
  await quittance.mine(2);
  await becomes(order.id, 'paid');
});

test('money that the shop sends away arrives', async () => {
  const order = await shop.checkout('ETH', 100);
  await quittance.pay('ETH', order.address, order.amount);
  await becomes(order.id, 'paid');
  const supplier = `0x${randomBytes(20).toString('hex')}`;
  await becomes(await shop.sendAway('ETH', '0.01', supplier), 'mined');
  assert.equal(await weiOf(supplier), 10n ** 16n);
});

test('what somebody else posts to the shop is not believed', async () => {
  const forged = { method: 'POST', body: '{"event":"invoice.paid","data":{"id":"inv_1","status":"paid"}}' };
  const answer = await fetch(`http://127.0.0.1:${shop.port}/hook`, forged);
  assert.equal(answer.status, 401);
  assert.equal(shop.statuses.has('inv_1'), false);
});

/** What the chain itself says. */
async function weiOf(address: string): Promise<bigint> {
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] };
  const headers = { 'Content-Type': 'application/json' };
  const order = { method: 'POST', headers, body: JSON.stringify(call) };
  const answer = await fetch(quittance.nodes.ethereum.rpc, order);
  return BigInt(((await answer.json()) as { result: string }).result);
}
