import { describe, expect, it } from '@jest/globals';
import { DUE, MINUTE, openFixture } from './fixture.ts';
import { linksOf } from './link-fixture.ts';
import type { Any } from './replica.ts';

const DUST = 10_000_000_000_000n;

const { fixture, anInvoice, mine, pay, settle, blocks, pass } = await openFixture();

it('pending → confirmed → paid, once the ledger has credited it', async () => {
  const invoice = await anInvoice();
  await invoice.expectShown({ status: 'pending', pending_amount: '0', paid_amount: '0' });
  await pay(invoice.to, DUE);
  await invoice.expectShown({ status: 'confirmed', pending_amount: '0.01', paid_amount: '0' });
  await invoice.expectReported('invoice.confirmed');
  await blocks(1);
  await invoice.expectReported('invoice.confirmed');
  await blocks(1);
  await invoice.expectShown({ status: 'confirmed', pending_amount: '0', paid_amount: '0.01', paid_at: null });
  expect(await invoice.last()).toMatchObject({
    kind: 'deposit.settled',
    payload: { disposition: 'credit', amount: DUE.toString(), asset: 'ETH', address: invoice.to },
  });
  await blocks(5);
  await invoice.expectShown({ status: 'confirmed' });
  await fixture.credit();
  await invoice.expectShown({ status: 'paid', paid_at: fixture.clock.at.toISOString() });
  await invoice.expectReported('invoice.confirmed', 'deposit.settled', 'invoice.paid');
  expect((await invoice.last())?.payload.data).toEqual(await invoice.read());
});

it('pending → partially_paid → confirmed → paid, in parts', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE / 4n);
  await invoice.expectShown({ status: 'partially_paid', pending_amount: '0.0025', paid_amount: '0' });
  await blocks(2);
  await invoice.expectShown({ status: 'partially_paid', pending_amount: '0', paid_amount: '0.0025' });
  // Final and without a disposition: the rest may never arrive.
  await invoice.expectReported('invoice.partially_paid');
  await pay(invoice.to, (DUE * 3n) / 4n);
  await invoice.expectShown({ status: 'confirmed', pending_amount: '0.0075', paid_amount: '0.0025' });
  await settle();
  await invoice.expectShown({ status: 'paid', pending_amount: '0', paid_amount: '0.01' });
  await invoice.expectReported(
    'invoice.partially_paid',
    'invoice.confirmed',
    'deposit.settled',
    'deposit.settled',
    'invoice.paid',
  );
});

it('a tolerance lowers the needed amount of invoices that are created while it is set', async () => {
  const before = await anInvoice();
  fixture.ports.settings.toleranceBps = 100;
  const invoice = await anInvoice();
  fixture.ports.settings.toleranceBps = 0;
  await pay(before.to, (DUE * 99n) / 100n);
  await before.expectShown({ status: 'partially_paid' });
  await pay(invoice.to, (DUE * 98n) / 100n);
  await invoice.expectShown({ status: 'partially_paid' });
  await pay(invoice.to, DUE / 100n);
  await invoice.expectShown({ status: 'confirmed' });
  await settle();
  // The received amount is credited, not the amount due.
  await invoice.expectShown({ status: 'paid', paid_amount: '0.0099' });
  expect(await invoice.kinds()).not.toContain('invoice.overpaid');
});

it('no event is older than the state that it reports', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE);
  // The service's clock is ahead of the database's.
  fixture.pass(100 * 365 * 24 * 60 * MINUTE);
  await settle();
  const [{ is_later }] = await fixture.rows(
    `select o.created_at >= i.paid_at as is_later from outbox o join invoices i on i.id = o.payload->>'resource_id'
     where i.id = $1 and o.kind = 'invoice.paid'`,
    [invoice.id],
  );
  expect(is_later).toBe(true);
});

it('invoice.confirmed comes before invoice.paid when one confirmation is enough', async () => {
  const eth: Any = fixture.quotes.get('ETH');
  fixture.quotes.set('ETH', { ...eth, min_confirmations: 1 });
  const invoice = await anInvoice();
  fixture.quotes.set('ETH', eth);
  await pay(invoice.to, DUE);
  await invoice.expectShown({ status: 'confirmed', paid_amount: '0.01' });
  await fixture.credit();
  await invoice.expectReported('deposit.settled', 'invoice.confirmed', 'invoice.paid');
});

it('more than due is credited as it arrived, and reported each time', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE + 5n);
  await invoice.expectReported('invoice.confirmed', 'invoice.overpaid');
  await settle();
  await invoice.expectShown({ status: 'paid', paid_amount: '0.010000000000000005' });
  // It is paid and has expired: further payments still go to the merchant.
  await pass(61 * MINUTE);
  await pay(invoice.to, DUE);
  await blocks(2);
  expect(await invoice.last()).toMatchObject({ kind: 'deposit.settled', payload: { disposition: 'credit' } });
  await fixture.credit();
  await invoice.expectShown({ status: 'paid', paid_amount: '0.020000000000000005' });
  expect((await invoice.kinds()).filter((kind) => kind === 'invoice.overpaid')).toHaveLength(2);
});

it('dust is listed, waits as unresolved and never counts', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUST - 1n);
  await invoice.expectShown({ status: 'pending', pending_amount: '0' });
  expect((await invoice.read()).payments).toHaveLength(1);
  await blocks(2);
  expect(await invoice.last()).toMatchObject({
    kind: 'deposit.settled',
    payload: { disposition: 'unresolved', reason: 'too_small' },
  });
  await pay(invoice.to, DUE - 1n);
  await invoice.expectShown({ status: 'partially_paid' });
  expect((await invoice.kinds()).filter((kind) => kind.startsWith('invoice.'))).toEqual([
    'invoice.created',
    'invoice.partially_paid',
  ]);
});

it('USDC in two parts, in one transaction and another', async () => {
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  await invoice.expectShown({ amount: '25' });
  const tx = `0x${'ab'.repeat(32)}`;
  await mine({
    pay: [
      { to: invoice.to, amount: 10_000_000n, asset: 'USDC_ERC20', tx, index: 1 },
      { to: invoice.to, amount: 5_000_000n, asset: 'USDC_ERC20', tx, index: 3 },
    ],
  });
  await invoice.expectShown({ status: 'partially_paid', pending_amount: '15' });
  await pay(invoice.to, 10_000_000n, { asset: 'USDC_ERC20', index: 1 });
  await settle();
  await invoice.expectShown({ status: 'paid', paid_amount: '25' });
});

it('pending → expired at its expiry, and not a moment before', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pass(MINUTE);
  await invoice.expectShown({ status: 'pending' });
  await pass(1);
  await invoice.expectShown({ status: 'expired', paid_at: null });
  await invoice.expectReported('invoice.expired');
});

it('nothing expires while the chain is not known up to the expiry', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  fixture.pass(10 * MINUTE);
  await fixture.scan();
  await invoice.expectShown({ status: 'pending' });
  fixture.chain.away = true;
  await expect(fixture.scan()).rejects.toThrow('the node does not answer');
  await invoice.expectShown({ status: 'pending' });
  fixture.chain.away = false;
  await blocks(1);
  await invoice.expectShown({ status: 'expired' });
});

it('a scanner that lags makes no payment late', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  const time = new Date(fixture.clock.at.getTime() + MINUTE);
  fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }], time });
  await pass(60 * MINUTE);
  await invoice.expectShown({ status: 'confirmed', payments: [{ first_seen_at: time.toISOString() }] });
});

it('a payment a second too late is late: the money waits as unresolved', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pass(MINUTE + 1);
  await invoice.expectShown({ status: 'expired' });
  await pay(invoice.to, DUE);
  await invoice.expectShown({
    status: 'expired',
    pending_amount: '0',
    paid_amount: '0',
    payments: [{ amount: '0.01', status: 'pending' }],
  });
  await invoice.expectReported('invoice.expired', 'invoice.late_payment');
  await blocks(2);
  expect(await invoice.last()).toMatchObject({
    kind: 'deposit.settled',
    payload: { disposition: 'unresolved', reason: 'late', amount: DUE.toString() },
  });
  await fixture.credit();
  await invoice.expectShown({ status: 'expired', payments: [{ status: 'confirmed' }] });
  expect(await invoice.kinds()).toHaveLength(4);
});

it('a payment in the block that shows the expiry is late, and reported after it', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  fixture.pass(MINUTE + 1);
  await pay(invoice.to, DUE);
  await invoice.expectShown({ status: 'expired' });
  await invoice.expectReported('invoice.expired', 'invoice.late_payment');
});

it('partially_paid past its expiry is final: its funds wait, and nothing makes it paid', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pay(invoice.to, DUE / 2n);
  await pass(MINUTE + 1);
  await invoice.expectShown({ status: 'partially_paid', pending_amount: '0.005' });
  await invoice.expectReported('invoice.partially_paid', 'invoice.underpaid');
  await blocks(2);
  expect(await invoice.last()).toMatchObject({
    kind: 'deposit.settled',
    payload: { disposition: 'unresolved', reason: 'underpaid' },
  });
  await pay(invoice.to, DUE);
  expect(await invoice.last()).toMatchObject({ kind: 'invoice.late_payment' });
  await blocks(3);
  await fixture.credit();
  await invoice.expectShown({ status: 'partially_paid', paid_amount: '0.005' });
  const dispositions = (await invoice.settled()).map(({ payload }) => payload.disposition);
  expect(dispositions).toEqual(['unresolved', 'unresolved']);
});

it('confirmed past its expiry keeps waiting for its confirmations', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pay(invoice.to, DUE);
  await pass(30 * MINUTE);
  await invoice.expectShown({ status: 'confirmed' });
  await blocks(1);
  await fixture.credit();
  await invoice.expectShown({ status: 'paid' });
});

describe('an invoice that never expires', () => {
  async function unending() {
    const shop = fixture.merchant();
    await shop.patch('/api/invoice-settings', { expires_in: null });
    const made: Any = await shop.invoice();
    expect(made.expires_at).toBeNull();
    return { shop, made, to: made.address.address.toLowerCase() as string };
  }

  it('stays open, has no time left on its page, and can be paid after months', async () => {
    const { shop, made, to } = await unending();
    fixture.pass(90 * 24 * 60 * MINUTE);
    await blocks(2);
    expect(await shop.read(made.id)).toMatchObject({ status: 'pending', expires_at: null });
    const { body: shown } = await linksOf(fixture).page(`/pay/${made.id}`);
    expect(shown).toContain('Send 0.01 ETH');
    expect(shown).not.toContain('Time left');
    await pay(to, DUE / 4n);
    expect(await shop.read(made.id)).toMatchObject({ status: 'partially_paid', amount_remaining: '0.0075' });
    await pay(to, (DUE * 3n) / 4n);
    await settle();
    expect(await shop.read(made.id)).toMatchObject({ status: 'paid', paid_amount: '0.01', expires_at: null });
  });

  it('of which a part is paid is cancelled when the part is final, which is unresolved then', async () => {
    const { shop, made, to } = await unending();
    const cancel = () => shop.post(`/api/invoices/${made.id}/cancel`, {});
    await pay(to, DUE / 4n);
    expect(await cancel()).toMatchObject({ status: 400, body: { code: 'not_cancelable' } });
    await settle();
    const now = fixture.clock.at.toISOString();
    const ended = { status: 'partially_paid', paid_amount: '0.0025', cancelled_at: now, expires_at: now };
    expect(await cancel()).toMatchObject({ status: 200, body: { data: ended } });
    expect(await cancel()).toMatchObject({ status: 200, body: { data: ended } });
    const told = await fixture.told(made.id);
    expect(told.map(({ kind }) => kind)).toEqual([
      'invoice.created',
      'invoice.partially_paid',
      'deposit.settled',
      'invoice.underpaid',
    ]);
    fixture.pass(1_000);
    await pay(to, DUE);
    expect((await fixture.told(made.id)).at(-1)?.kind).toBe('invoice.late_payment');
  });
});
