import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

const CONFIRMATIONS = 3;
let quittance: Quittance;
let shop: Merchant;

beforeAll(async () => {
  quittance = await startQuittance({ confirmations: CONFIRMATIONS, chains: [] });
  shop = await quittance.merchant();
  const { id } = await sale('2000');
  await paid(id);
});
afterEach(async () => {
  await eventually(async () => expect((await quittance.books()).breaches).toEqual([]), 30_000);
});
afterAll(() => quittance?.stop());

let addresses = 0;
const newAddress = () => `0x${(++addresses).toString(16).padStart(8, '0')}${'c4'.repeat(16)}`;

/** An invoice, paid by its customer, in the newest block. */
async function sale(dollars: string): Promise<{ id: string }> {
  const { status, body } = await shop.post('/api/invoices', { asset: 'ETH', amount: dollars });
  expect(status).toBe(201);
  await quittance.ethereum.pay('ETH', body.data.address.address, body.data.amount);
  await quittance.ethereum.mine();
  return body.data;
}

const minedUntil = (ask: () => Promise<void>) =>
  eventually(
    async () => {
      await quittance.ethereum.mine();
      await ask();
    },
    30_000,
    200,
  );

const paid = (id: string) =>
  minedUntil(async () =>
    expect((await shop.get(`/api/invoices/${id}`)).body).toMatchObject({ status: 'paid' }),
  );

const mined = (id: number) =>
  minedUntil(async () => {
    const { body } = await shop.get('/api/payouts?perPage=100');
    expect(body.data).toContainEqual(expect.objectContaining({ id, status: 'mined' }));
  });

async function payout(): Promise<{ id: number; to: string }> {
  const to = newAddress();
  const { status, body } = await shop.post('/api/payouts', { asset: 'ETH', amount: '0.01', address: to });
  expect(status).toBe(201);
  return { id: body.data.id, to };
}

async function paidExactlyOnce(to: string): Promise<void> {
  expect(await quittance.ethereum.transactions(to)).toHaveLength(1);
  expect(await quittance.ethereum.balance('ETH', to)).toBe(10n ** 16n);
}

test.each(['payouts.signed', 'payouts.broadcast'])(
  'payouts is killed at %s: the same bytes go out again, one transaction',
  async (point) => {
    const { services, settingsOf } = quittance.stack;
    settingsOf('payouts')['CRASH_AT'] = `${point}:1`;
    await services.payouts.restart();
    const { id, to } = await payout();
    await eventually(() => expect(services.payouts.pid).toBeUndefined());
    const signed = await quittance.db.rows<{ raw: string }>(
      'select raw from payouts.transactions t join payouts.payments m using (family) where m.payout_id = $1',
      [id],
    );
    expect(signed).toHaveLength(1);

    delete settingsOf('payouts')['CRASH_AT'];
    await services.payouts.restart();
    await mined(id);
    await paidExactlyOnce(to);
    expect(
      await quittance.db.rows(
        'select raw from payouts.transactions t join payouts.payments m using (family) where m.payout_id = $1',
        [id],
      ),
    ).toEqual(signed);
  },
);

test('the ledger is killed in mid-flight: credits and debits are booked once when it is back', async () => {
  const { id } = await sale('30');
  const first = await payout();
  quittance.stack.services.ledger.kill();
  const refused = await shop.post('/api/payouts', { asset: 'ETH', amount: '0.01', address: newAddress() });
  expect(refused).toMatchObject({ status: 503, body: { message: 'Service Unavailable' } });
  expect(refused.headers['retry-after']).toBeDefined();
  await quittance.ethereum.mine(CONFIRMATIONS);
  await quittance.stack.services.ledger.restart();
  await paid(id);
  await mined(first.id);
  await paidExactlyOnce(first.to);
  // What was answered with 503 never pays: it is in no list, and no hold of it stands.
  const { body } = await shop.get('/api/payouts?perPage=100');
  expect(body.data.filter((one: { status: string }) => one.status === 'pending')).toEqual([]);
});

test('invoices is killed while payments arrive: all are found and paid once', async () => {
  const sales = [await sale('11'), await sale('12')];
  quittance.stack.services.invoices.kill();
  await quittance.ethereum.mine(CONFIRMATIONS);
  await quittance.stack.services.invoices.restart();
  for (const { id } of sales) await paid(id);
});

test('the bus is killed while money moves: reads go on, payouts answer 503, everything ends once', async () => {
  const { id } = await sale('40');
  const first = await payout();
  quittance.stack.engines.nats.kill();
  expect((await shop.get(`/api/invoices/${id}`)).status).toBe(200);
  expect((await shop.get('/api/balances')).status).toBe(200);
  await eventually(async () => {
    const refused = await shop.post('/api/payouts', { asset: 'ETH', amount: '0.01', address: newAddress() });
    expect(refused.status).toBe(503);
  });
  await quittance.ethereum.mine(CONFIRMATIONS);
  await quittance.stack.engines.nats.restart();
  await paid(id);
  await mined(first.id);
  await paidExactlyOnce(first.to);
});

test('all services are killed at once and started again: what was accepted is done', async () => {
  const { id } = await sale('50');
  const first = await payout();
  const services = Object.values(quittance.stack.services);
  for (const service of services) service.kill();
  await Promise.all(services.map((service) => service.restart()));
  await paid(id);
  await mined(first.id);
  await paidExactlyOnce(first.to);
});
