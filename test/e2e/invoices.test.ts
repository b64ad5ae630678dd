import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { parseUnits } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

const CONFIRMATIONS = 3;

let quittance: Quittance;
let shop: Merchant;
/** Made first, so that their minute passes while the other tests run. */
let unpaid: { id: string };
let tooLate: { id: string };

beforeAll(async () => {
  quittance = await startQuittance({ confirmations: CONFIRMATIONS });
  shop = await quittance.merchant();
  unpaid = await invoice({ asset: 'ETH', amount: 10, expires_in: 1 });
  tooLate = await invoice({ asset: 'ETH', amount: 10, expires_in: 1 });
});
afterEach(async () => {
  await booksBalance();
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

async function balance(asset: string): Promise<string> {
  const { body } = await shop.get('/api/balances');
  return body.data.find((entry: { asset: { symbol: string } }) => entry.asset.symbol === asset).balance;
}

/** What is in flight may still be on its way; in the end every invariant holds. */
const booksBalance = () => eventually(async () => expect((await quittance.books()).breaches).toEqual([]));

const units = (text: string): bigint => {
  const parsed = parseUnits(text, 18);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
};
const grewBy = async (asset: string, before: string, amount: string) =>
  expect(units(await balance(asset))).toBe(units(before) + units(amount));

test('ETH paid in full: confirmed when it is seen, paid when it is final, and in the balance by then', async () => {
  const before = await balance('ETH');
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
  await grewBy('ETH', before, '0.01');
});

test('USDC paid in two parts: partially paid, then paid, and the balance has both', async () => {
  const before = await balance('USDC_ERC20');
  const { id, address } = await invoice({ asset: 'USDC_ERC20', amount: 20 });
  await quittance.ethereum.pay('USDC_ERC20', address.address, '12.5');
  await quittance.ethereum.mine();
  await becomes(id, { status: 'partially_paid', pending_amount: '12.5' });
  await quittance.ethereum.pay('USDC_ERC20', address.address, '7.5');
  await quittance.ethereum.mine(CONFIRMATIONS);
  await becomes(id, { status: 'paid', paid_amount: '20' });
  expect((await read(id)).payments).toHaveLength(2);
  await grewBy('USDC_ERC20', before, '20');
});

test('what was paid too much is credited all the same', async () => {
  const before = await balance('USDC_ERC20');
  const { id, address } = await invoice({ asset: 'USDC_ERC20', amount: 10 });
  await quittance.ethereum.pay('USDC_ERC20', address.address, '13.37');
  await quittance.ethereum.mine(CONFIRMATIONS);
  await becomes(id, { status: 'paid', amount: '10', paid_amount: '13.37' });
  await eventually(() => grewBy('USDC_ERC20', before, '13.37'));
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

test('nobody pays: the invoice expires', async () => {
  await becomes(unpaid.id, { status: 'expired', paid_amount: '0' }, 90_000);
}, 100_000);

test('money that comes too late stays visible and does not make the invoice paid', async () => {
  const before = await balance('ETH');
  await becomes(tooLate.id, { status: 'expired' }, 90_000);
  const { amount, address } = await read(tooLate.id);
  await quittance.ethereum.pay('ETH', address.address, amount);
  await quittance.ethereum.mine(CONFIRMATIONS);
  await becomes(tooLate.id, { status: 'expired', payments: [{ status: 'confirmed', amount }] });
  await eventually(async () => {
    const unresolved = await quittance.db.one<{ amount: string }>(
      `select unresolved::text as amount from ledger.balances where account_id = $1 and asset = 'ETH'`,
      [shop.id],
    );
    expect(unresolved.amount).toBe('4000000000000000');
  });
  expect(await balance('ETH')).toBe(before);
}, 100_000);
