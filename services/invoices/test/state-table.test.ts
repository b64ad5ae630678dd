import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ETHER, type Fixture, MINUTE, startFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

/** The amount due of an invoice of 25 dollars: 0.01 ETH. */
const DUE = ETHER / 100n;
const DUST = 10_000_000_000_000n;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
  await fixture.scan();
});
afterAll(() => fixture.stop());

/** An invoice and its address. */
async function anInvoice(order: object = {}) {
  const invoice = await fixture.anInvoice(order);
  return {
    ...invoice,
    kinds: async () => (await fixture.told(invoice.id)).map(({ kind }) => kind),
    last: async () => (await fixture.told(invoice.id)).at(-1),
  };
}

async function pay(to: string, amount: bigint, more: object = {}) {
  fixture.chain.mine({ pay: [{ to, amount, ...more }] });
  await fixture.scan();
}

async function blocks(count: number) {
  fixture.chain.mine(...Array.from({ length: count }, () => ({})));
  await fixture.scan();
}

/** Advances the clock and mines a block at that time. */
async function pass(ms: number) {
  fixture.pass(ms);
  await blocks(1);
}

describe('the state table', () => {
  it('pending → confirmed → paid, once the ledger has credited it', async () => {
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
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_at: fixture.clock.at.toISOString() });
    expect(await invoice.kinds()).toEqual([
      'invoice.created',
      'invoice.confirmed',
      'deposit.settled',
      'invoice.paid',
    ]);
    expect((await invoice.last())?.payload.data).toEqual(await invoice.read());
  });

  it('pending → partially_paid → confirmed → paid, in parts', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE / 4n);
    expect(await invoice.read()).toMatchObject({
      status: 'partially_paid',
      pending_amount: '0.0025',
      paid_amount: '0',
    });
    await blocks(2);
    expect(await invoice.read()).toMatchObject({
      status: 'partially_paid',
      pending_amount: '0',
      paid_amount: '0.0025',
    });
    // Final and without a disposition: the rest may never arrive.
    expect(await invoice.kinds()).toEqual(['invoice.created', 'invoice.partially_paid']);
    await pay(invoice.to, (DUE * 3n) / 4n);
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      pending_amount: '0.0075',
      paid_amount: '0.0025',
    });
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', pending_amount: '0', paid_amount: '0.01' });
    expect(await invoice.kinds()).toEqual([
      'invoice.created',
      'invoice.partially_paid',
      'invoice.confirmed',
      'deposit.settled',
      'deposit.settled',
      'invoice.paid',
    ]);
  });

  it('the last missing unit counts', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE - 1n);
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid' });
    await blocks(5);
    expect(await invoice.kinds()).not.toContain('deposit.settled');
  });

  it('a tolerance lowers the needed amount of invoices that are created while it is set', async () => {
    const before = await anInvoice();
    fixture.ports.settings.toleranceBps = 100;
    const invoice = await anInvoice();
    fixture.ports.settings.toleranceBps = 0;
    await pay(before.to, (DUE * 99n) / 100n);
    expect(await before.read()).toMatchObject({ status: 'partially_paid' });
    await pay(invoice.to, (DUE * 98n) / 100n);
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid' });
    await pay(invoice.to, DUE / 100n);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await blocks(2);
    await fixture.credit();
    // The received amount is credited, not the amount due.
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.0099' });
    expect(await invoice.kinds()).not.toContain('invoice.overpaid');
  });

  it('no event is older than the state that it reports', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE);
    // The service's clock is ahead of the database's.
    fixture.pass(100 * 365 * 24 * 60 * MINUTE);
    await blocks(2);
    await fixture.credit();
    const [{ is_later }] = await fixture.rows(
      `select o.created_at >= i.paid_at as is_later from outbox o join invoices i on i.id = o.payload->>'resource_id'
       where i.id = $1 and o.kind = 'invoice.paid'`,
      [invoice.id],
    );
    expect(is_later).toBe(true);
  });

  it('invoice.confirmed comes before invoice.paid when one confirmation is enough', async () => {
    const eth = fixture.quotes.get('ETH');
    if (eth === undefined) throw new Error('there is a quote');
    fixture.quotes.set('ETH', { ...eth, min_confirmations: 1 });
    const invoice = await anInvoice();
    fixture.quotes.set('ETH', eth);
    await pay(invoice.to, DUE);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', paid_amount: '0.01' });
    await fixture.credit();
    expect(await invoice.kinds()).toEqual([
      'invoice.created',
      'deposit.settled',
      'invoice.confirmed',
      'invoice.paid',
    ]);
  });

  it('pending → expired at its expiry, and not a moment before', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await pass(MINUTE);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await pass(1);
    expect(await invoice.read()).toMatchObject({ status: 'expired', paid_at: null });
    expect(await invoice.kinds()).toEqual(['invoice.created', 'invoice.expired']);
  });

  it('nothing expires while the chain is not known up to the expiry', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(10 * MINUTE);
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    fixture.chain.away = true;
    await expect(fixture.scan()).rejects.toThrow('the node does not answer');
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    fixture.chain.away = false;
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
  });

  it('a scanner that lags makes no payment late', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    const time = new Date(fixture.clock.at.getTime() + MINUTE);
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }], time });
    fixture.pass(60 * MINUTE);
    fixture.chain.mine({});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      payments: [{ first_seen_at: time.toISOString() }],
    });
  });

  it('a payment a second too late is late: the money waits as unresolved', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await pass(MINUTE + 1);
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
    await pay(invoice.to, DUE);
    expect(await invoice.read()).toMatchObject({
      status: 'expired',
      pending_amount: '0',
      paid_amount: '0',
      payments: [{ amount: '0.01', status: 'pending' }],
    });
    expect(await invoice.kinds()).toEqual(['invoice.created', 'invoice.expired', 'invoice.late_payment']);
    await blocks(2);
    expect(await invoice.last()).toMatchObject({
      kind: 'deposit.settled',
      payload: { disposition: 'unresolved', amount: DUE.toString() },
    });
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'expired', payments: [{ status: 'confirmed' }] });
    expect(await invoice.kinds()).toHaveLength(4);
  });

  it('a payment in the block that shows the expiry is late, and reported after it', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE + 1);
    await pay(invoice.to, DUE);
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
    expect(await invoice.kinds()).toEqual(['invoice.created', 'invoice.expired', 'invoice.late_payment']);
  });

  it('partially_paid past its expiry is final: its funds wait, and nothing makes it paid', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await pay(invoice.to, DUE / 2n);
    await pass(MINUTE + 1);
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid', pending_amount: '0.005' });
    expect((await invoice.kinds()).slice(1)).toEqual(['invoice.partially_paid', 'invoice.underpaid']);
    await blocks(2);
    expect(await invoice.last()).toMatchObject({
      kind: 'deposit.settled',
      payload: { disposition: 'unresolved' },
    });
    await pay(invoice.to, DUE);
    expect(await invoice.last()).toMatchObject({ kind: 'invoice.late_payment' });
    await blocks(3);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid', paid_amount: '0.005' });
    const dispositions = (await fixture.told(invoice.id))
      .filter(({ kind }) => kind === 'deposit.settled')
      .map(({ payload }) => payload.disposition);
    expect(dispositions).toEqual(['unresolved', 'unresolved']);
  });

  it('confirmed past its expiry keeps waiting for its confirmations', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await pay(invoice.to, DUE);
    fixture.pass(30 * MINUTE);
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await blocks(1);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid' });
  });

  it('more than due is credited as it arrived, and reported each time', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE + 5n);
    expect((await invoice.kinds()).slice(1)).toEqual(['invoice.confirmed', 'invoice.overpaid']);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.010000000000000005' });
    // It is paid and has expired: further payments still go to the merchant.
    await pass(61 * MINUTE);
    await pay(invoice.to, DUE);
    await blocks(2);
    expect(await invoice.last()).toMatchObject({
      kind: 'deposit.settled',
      payload: { disposition: 'credit' },
    });
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.020000000000000005' });
    expect((await invoice.kinds()).filter((kind) => kind === 'invoice.overpaid')).toHaveLength(2);
  });

  it.each([1, 2])('a reorganisation %i deep before a payment is final takes it back', async (depth) => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE);
    if (depth === 2) await blocks(1);
    fixture.chain.reorg(depth);
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'pending',
      pending_amount: '0',
      payments: [{ status: 'reversed', confirmations: 0, block_height: null, confirmed_at: null }],
    });
    expect((await invoice.kinds()).slice(1)).toEqual(['invoice.confirmed', 'invoice.payment_reversed']);
    // Another payment makes it confirmed again, which is reported once.
    await pay(invoice.to, DUE);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.01' });
    expect((await invoice.kinds()).slice(3)).toEqual(['deposit.settled', 'invoice.paid']);
  });

  it('a part that comes after the first part was dropped is reported', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE / 4n);
    fixture.chain.reorg(1, {}, {});
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await pay(invoice.to, DUE / 2n);
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid' });
    expect((await invoice.kinds()).slice(1)).toEqual([
      'invoice.partially_paid',
      'invoice.payment_reversed',
      'invoice.partially_paid',
    ]);
  });

  it('a dropped part makes the invoice partially_paid', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE / 2n);
    await pay(invoice.to, DUE / 2n);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    fixture.chain.reorg(1);
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid', pending_amount: '0.005' });
  });

  it('dropped past the expiry, a payment may come back for as many blocks as confirm it; then the invoice expires', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await pay(invoice.to, DUE);
    fixture.pass(2 * MINUTE);
    await blocks(1);
    fixture.chain.reorg(2);
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await blocks(2);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
    expect((await invoice.kinds()).slice(1)).toEqual([
      'invoice.confirmed',
      'invoice.payment_reversed',
      'invoice.expired',
    ]);
  });

  it('dropped past the expiry and mined again, a payment is in time if it was first seen in time', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    const [{ payments = [] } = {}] = fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    await fixture.scan();
    const tx = payments[0]?.txHash ?? '';
    fixture.pass(2 * MINUTE);
    fixture.chain.reorg(1);
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await pay(invoice.to, DUE, { tx });
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({
      status: 'paid',
      payments: [{ tx_hash: tx, status: 'confirmed' }],
    });
  });

  it('a payment that only moves to another block is never reported as reversed', async () => {
    const invoice = await anInvoice();
    const [{ payments = [] } = {}] = fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    await fixture.scan();
    fixture.chain.reorg(1, {}, { pay: [{ to: invoice.to, amount: DUE, tx: payments[0]?.txHash ?? '' }] });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      payments: [{ status: 'pending', confirmations: 1, block_height: fixture.chain.height() }],
    });
    expect((await invoice.kinds()).slice(1)).toEqual(['invoice.confirmed']);
    await blocks(2);
    expect((await invoice.kinds()).filter((kind) => kind === 'deposit.settled')).toHaveLength(1);
  });

  it('a branch that is known only in part undoes and reports nothing', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE / 2n);
    const tx = newTx();
    await pay(invoice.to, DUE / 4n, { tx });
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ paid_amount: '0.005', pending_amount: '0.0025' });
    // The node has only the first block of its new branch; a later one has the second payment again.
    const pays = { pay: [{ to: invoice.to, amount: DUE / 4n, tx }] };
    fixture.chain.reorg(2, {}, pays);
    fixture.chain.missesAbove = fixture.chain.height() - 1;
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ paid_amount: '0.005', pending_amount: '0.0025' });
    fixture.chain.missesAbove = undefined;
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({
      paid_amount: '0.005',
      pending_amount: '0.0025',
      payments: [{ confirmations: 3 }, { confirmations: 1, block_height: fixture.chain.height() }],
    });
    expect(await invoice.kinds()).not.toContain('invoice.payment_reversed');
    await pay(invoice.to, DUE / 4n);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid' });
  });

  it('paid, dropped deeper than its confirmations and lost: it stays paid, the credit is reversed', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE);
    await blocks(2);
    await fixture.credit();
    fixture.chain.reorg(3, {}, {}, {});
    await fixture.scan();
    // It may still come back, so nothing is reported yet.
    expect(await invoice.read()).toMatchObject({
      status: 'paid',
      paid_amount: '0.01',
      reversed_amount: '0',
      payments: [{ status: 'confirmed', block_height: null }],
    });
    expect((await invoice.kinds()).at(-1)).toBe('invoice.paid');
    await blocks(2);
    expect((await invoice.kinds()).at(-1)).toBe('invoice.paid');
    await blocks(1);
    expect(await invoice.read()).toMatchObject({
      status: 'paid',
      paid_amount: '0',
      reversed_amount: '0.01',
      payments: [{ status: 'reversed' }],
    });
    expect((await invoice.kinds()).slice(-2)).toEqual(['deposit.reversed', 'invoice.payment_reversed']);
    expect((await fixture.told(invoice.id)).at(-1)?.payload.data).toMatchObject({
      status: 'paid',
      paid_amount: '0',
      reversed_amount: '0.01',
    });
    await blocks(10);
    expect((await invoice.kinds()).slice(-2)).toEqual(['deposit.reversed', 'invoice.payment_reversed']);
  });

  it('paid, dropped and mined again in time: nothing changes', async () => {
    const invoice = await anInvoice();
    const [{ payments = [] } = {}] = fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    await blocks(2);
    await fixture.credit();
    const before = await invoice.kinds();
    fixture.chain.reorg(3);
    await blocks(2);
    await pay(invoice.to, DUE, { tx: payments[0]?.txHash ?? '' });
    await blocks(20);
    expect(await invoice.kinds()).toEqual(before);
    expect(await invoice.read()).toMatchObject({ status: 'paid', payments: [{ status: 'confirmed' }] });
  });

  it('reversed, and mined again after all: settled again, as another deposit', async () => {
    const invoice = await anInvoice();
    const [{ payments = [] } = {}] = fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    await blocks(2);
    await fixture.credit();
    fixture.chain.reorg(3);
    await blocks(3);
    expect((await invoice.kinds()).at(-1)).toBe('invoice.payment_reversed');
    await pay(invoice.to, DUE, { tx: payments[0]?.txHash ?? '' });
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.01', reversed_amount: '0' });
    const settled = (await fixture.told(invoice.id)).filter(({ kind }) => kind === 'deposit.settled');
    expect(settled.map(({ payload }) => payload.disposition)).toEqual(['credit', 'credit']);
    expect(new Set(settled.map(({ payload }) => payload.deposit_id)).size).toBe(2);
    expect(await invoice.read()).toMatchObject({
      status: 'paid',
      paid_amount: '0.01',
      payments: [{ status: 'reversed' }, { status: 'confirmed' }],
    });
  });

  it('settled, not yet credited, and reversed: never paid, and the late credit changes nothing', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUE);
    await blocks(2);
    fixture.chain.reorg(3);
    await blocks(3);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'pending', paid_amount: '0' });
  });

  it('dust is listed, waits as unresolved and never counts', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, DUST - 1n);
    expect(await invoice.read()).toMatchObject({ status: 'pending', pending_amount: '0' });
    expect((await invoice.read()).payments).toHaveLength(1);
    await blocks(2);
    expect(await invoice.last()).toMatchObject({
      kind: 'deposit.settled',
      payload: { disposition: 'unresolved' },
    });
    await pay(invoice.to, DUE - 1n);
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid' });
    expect((await invoice.kinds()).filter((kind) => kind.startsWith('invoice.'))).toEqual([
      'invoice.created',
      'invoice.partially_paid',
    ]);
  });

  it('a token other than the invoice’s is listed by its name and waits as unresolved', async () => {
    const invoice = await anInvoice();
    await pay(invoice.to, 25_000_000n, { asset: 'USDC_ERC20', index: 1 });
    expect(await invoice.read()).toMatchObject({
      status: 'pending',
      payments: [{ amount: '25', asset: 'USDC_ERC20', output_index: 1, status: 'pending' }],
    });
    await blocks(2);
    expect(await invoice.last()).toMatchObject({
      kind: 'deposit.settled',
      payload: { disposition: 'unresolved', asset: 'USDC_ERC20', amount: '25000000' },
    });
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
  });

  it('USDC in two parts, in one transaction and another', async () => {
    const invoice = await anInvoice({ asset: 'USDC_ERC20' });
    expect(await invoice.read()).toMatchObject({ amount: '25' });
    const tx = `0x${'ab'.repeat(32)}`;
    fixture.chain.mine({
      pay: [
        { to: invoice.to, amount: 10_000_000n, asset: 'USDC_ERC20', tx, index: 1 },
        { to: invoice.to, amount: 5_000_000n, asset: 'USDC_ERC20', tx, index: 3 },
      ],
    });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid', pending_amount: '15' });
    await pay(invoice.to, 10_000_000n, { asset: 'USDC_ERC20', index: 1 });
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '25' });
  });
});
