import { expect, it } from '@jest/globals';
import { ETHER, MINUTE, openFixture } from './fixture.ts';

/** The amount due of an invoice of 25 dollars: 0.01 ETH. */
const DUE = ETHER / 100n;

const { fixture, anInvoice, pay, blocks, pass } = await openFixture();

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
  await blocks(1);
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
