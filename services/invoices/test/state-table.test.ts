import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ETHER, MINUTE, startWorld, type World } from './world.ts';

/** What an invoice of 25 dollars asks for: 0.01 ETH. */
const DUE = ETHER / 100n;
const DUST = 10_000_000_000_000n;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.scan();
});
afterAll(() => world.stop());

/** An invoice, and where its customer sends money. */
async function anInvoice(order: object = {}) {
  const merchant = world.merchant();
  const invoice = await merchant.invoice(order);
  return {
    id: invoice.id as string,
    to: (invoice.address.address as string).toLowerCase(),
    read: () => merchant.read(invoice.id),
    kinds: async () => (await world.told(invoice.id)).map(({ kind }) => kind),
    last: async () => (await world.told(invoice.id)).at(-1),
  };
}

async function pay(to: string, amount: bigint, more: object = {}) {
  world.chain.mine({ pay: [{ to, amount, ...more }] });
  await world.scan();
}

async function blocks(count: number) {
  world.chain.mine(...Array.from({ length: count }, () => ({})));
  await world.scan();
}

/** Time passes, and the chain says so. */
async function pass(ms: number) {
  world.pass(ms);
  await blocks(1);
}

describe('the state table', () => {
  it('pending → confirmed → paid, once the ledger has booked it', async () => {
    const invoice = await anInvoice();
    expect(await invoice.read()).toMatchObject({ status: 'pending', pending_amount: '0', paid_amount: '0' });
    await pay(invoice.to, DUE);
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      pending_amount: '0.01',
      paid_amount: '0',
    });
    expect(await invoice.kinds()).toEqual(['invoice.created', 'invoice.confirmed']);
    await blocks(1);
    expect(await invoice.kinds()).toEqual(['invoice.created', 'invoice.confirmed']);
    await blocks(1);
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      pending_amount: '0',
      paid_amount: '0.01',
      paid_at: null,
    });
    expect(await invoice.last()).toMatchObject({
      kind: 'deposit.settled',
      payload: { disposition: 'credit', amount: DUE.toString(), asset: 'ETH', address: invoice.to },
    });
    await blocks(5);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await world.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_at: world.clock.at.toISOString() });
    expect(await invoice.kinds()).toEqual([
      'invoice.created',
      'invoice.confirmed',
      'deposit.settled',
      'invoice.paid',
    ]);
    expect((await invoice.last())?.payload.data).toEqual(await invoice.read());
  });
});
