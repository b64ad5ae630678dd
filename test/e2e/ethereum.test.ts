import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

/** Step by step, on a node that makes a block only when it is told to: what money.test.ts only sees passing by. */

const CONFIRMATIONS = 3;

let quittance: Quittance;
let shop: Merchant;

beforeAll(async () => {
  quittance = await startQuittance({ confirmations: CONFIRMATIONS, chains: [], fixedFees: true });
  shop = await quittance.merchant();
});
afterEach(async () => {
  await eventually(async () => expect((await quittance.books()).discrepancies).toEqual([]));
});
afterAll(() => quittance?.stop());

async function invoice(order: object): Promise<{ id: string; amount: string; address: { address: string } }> {
  const made = await shop.post('/api/invoices', order);
  expect(made.status).toBe(201);
  return made.body.data;
}

const read = async (id: string) => (await shop.get(`/api/invoices/${id}`)).body;

const becomes = (id: string, wanted: object, withinMs?: number) =>
  eventually(async () => expect(await read(id)).toMatchObject(wanted), withinMs);

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

test('ETH paid in full: confirmed when it is seen, paid when it is final, and in the balance by then', async () => {
  const { id, amount, address } = await invoice({ asset: 'ETH', amount: 25, external_id: 'order-1' });
  expect(await read(id)).toMatchObject({
    status: 'pending',
    amount: '0.01',
    amount_fiat: '25.00',
    payments: [],
  });

  const hash = await quittance.ethereum.pay('ETH', address.address, amount);
  await quittance.ethereum.mine();
  await becomes(id, {
    status: 'confirmed',
    pending_amount: '0.01',
    paid_amount: '0',
    paid_at: null,
    payments: [{ tx_hash: hash, output_index: 0, amount: '0.01', status: 'pending', confirmations: 1 }],
  });

  await quittance.ethereum.mine(CONFIRMATIONS - 1);
  await becomes(id, {
    status: 'paid',
    pending_amount: '0',
    paid_amount: '0.01',
    paid_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    payments: [{ status: 'confirmed', confirmations: CONFIRMATIONS, required_confirmations: CONFIRMATIONS }],
  });
  expect(await balance(shop, 'ETH')).toMatchObject({ balance: '0.01', held: '0' });
});

test('ETH sent by a contract names the address nowhere, and is found', async () => {
  const { id, amount, address } = await invoice({ asset: 'ETH', amount: 50 });
  await quittance.ethereum.payByContract(address.address, amount);
  await quittance.ethereum.mine(CONFIRMATIONS + 1);
  await becomes(id, { status: 'paid', paid_amount: amount });
});

test('a payment in a block that is dropped steps back, and counts again when it returns', async () => {
  const { id, amount, address } = await invoice({ asset: 'ETH', amount: 30 });
  await quittance.ethereum.pay('ETH', address.address, amount);
  await quittance.ethereum.mine(2);
  await becomes(id, { status: 'confirmed', payments: [{ confirmations: 2 }] });
  await quittance.ethereum.dropBlocks(2);
  await becomes(id, { status: 'pending', pending_amount: '0', payments: [{ status: 'reversed' }] });

  await quittance.ethereum.pay('ETH', address.address, amount);
  await quittance.ethereum.mine(CONFIRMATIONS);
  await becomes(id, { status: 'paid', paid_amount: amount });
});

test('a balance below amount plus fee is refused, and nothing is held', async () => {
  const shop = await merchantWith('ETH', 100);
  const refused = await shop.post('/api/payouts', {
    asset: 'ETH',
    amount: '0.04',
    address: await quittance.ethereum.newAddress(),
  });
  expect(refused).toMatchObject({ status: 400, body: { message: 'Insufficient balance' } });
  expect(await balance(shop, 'ETH')).toMatchObject({ balance: '0.04', held: '0' });
  expect((await shop.get('/api/payouts')).body.data).toEqual([]);
});

test('2,000 payouts at once on a balance that covers 1,000: exactly 1,000 are accepted', async () => {
  const shop = await merchantWith('USDC_ERC20', 2_000);
  const to = await quittance.ethereum.newAddress();
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
