import { expect, it } from '@jest/globals';
import { ETHER, MINUTE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

/** The amount due of an invoice of 25 dollars: 0.01 ETH. */
const DUE = ETHER / 100n;

const { fixture, anInvoice, pay, blocks } = await openFixture();

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
  const [{ payments = [] } = {}] = await pay(invoice.to, DUE);
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
  const [{ payments = [] } = {}] = await pay(invoice.to, DUE);
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
