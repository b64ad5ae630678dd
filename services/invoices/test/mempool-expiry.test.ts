import { describe, expect, it } from '@jest/globals';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import { createScanner } from '../src/workers.ts';
import { MINUTE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

/** The amount due of an invoice of 25 dollars: 0.0005 BTC. */
const DUE = 50_000n;

const { fixture, anInvoice, mine, blocks, reorg, pass, pay, settle, send, forget } = await openFixture({
  chain: 'bitcoin',
});

describe('a mempool payment and the expiry', () => {
  it('that is seen in time and mined later is in time', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE);
    const tx = await send(invoice.to, DUE);
    await pass(30 * MINUTE);
    await invoice.expectShown({ status: 'confirmed', pending_amount: '0.0005' });
    await pay(invoice.to, DUE, { tx });
    await settle();
    await invoice.expectShown({ status: 'paid' });
    await invoice.expectReported('invoice.confirmed', 'deposit.settled', 'invoice.paid');
  });

  it('that is seen a moment too late is late, before and after it is mined', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE + 1);
    const tx = await send(invoice.to, DUE);
    await invoice.expectShown({ status: 'pending', pending_amount: '0' });
    await blocks(1);
    await invoice.expectShown({ status: 'expired', payments: [{ status: 'pending' }] });
    await pay(invoice.to, DUE, { tx });
    await invoice.expectReported('invoice.expired', 'invoice.late_payment');
  });

  it.each([
    ['all', DUE, 'confirmed'],
    ['a part', DUE / 2n, 'partially_paid'],
  ])(
    'with %s of the amount keeps the invoice open past its expiry, until an hour after it is dropped',
    async (_what, amount, status) => {
      const invoice = await anInvoice({ expires_in: 1 });
      const tx = await send(invoice.to, amount);
      fixture.pass(2 * MINUTE);
      await blocks(2);
      await invoice.expectShown({ status });
      await forget(tx);
      await pass(60 * MINUTE);
      await invoice.expectShown({ status: 'pending', pending_amount: '0' });
      expect((await invoice.changes()).at(-1)).toBe('invoice.payment_reversed');
      await pass(1);
      await invoice.expectShown({ status: 'expired', pending_amount: '0' });
      expect((await invoice.changes()).slice(-2)).toEqual(['invoice.payment_reversed', 'invoice.expired']);
    },
  );

  it('that is dropped and still mined after the expiry was in time', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    const tx = await send(invoice.to, DUE);
    await forget(tx);
    fixture.pass(30 * MINUTE);
    await blocks(3);
    await invoice.expectShown({ status: 'pending', pending_amount: '0' });
    await pay(invoice.to, DUE, { tx });
    await settle();
    await invoice.expectShown({ status: 'paid' });
  });

  it('hundreds of invoices that are held open do not keep others from expiring', async () => {
    const merchant = fixture.merchant();
    const held = await Promise.all(Array.from({ length: 240 }, () => merchant.invoice({ expires_in: 1 })));
    const last = await merchant.invoice({ expires_in: 2 });
    const payments = held.map(({ address }) => ({ to: address.address as string, amount: DUE, tx: newTx() }));
    const [waiting, mined] = [payments.slice(0, 120), payments.slice(120)];
    fixture.chain.wait(...waiting);
    await mine({ pay: mined });
    for (const { tx } of waiting) fixture.chain.forget(tx);
    fixture.pass(3 * MINUTE);
    // Half of them are dropped; the others have lost their block.
    await reorg(1, {}, {});
    expect(await merchant.read(last.id)).toMatchObject({ status: 'expired' });
    for (const one of [held[0], held[120]]) {
      expect(await merchant.read(one.id)).toMatchObject({ status: 'pending', pending_amount: '0' });
    }
    fixture.pass(61 * MINUTE);
    await blocks(3);
    const { body } = await merchant.get('/api/invoices?status=expired&perPage=1');
    expect(body.meta.total).toBe(241);
  });

  it('that is seen between two steps is in time although its block is applied first', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE);
    const tx = newTx();
    fixture.chain.wait({ to: invoice.to, amount: DUE, tx });
    // Its block arrives after the mempool is read and before blocks are applied.
    const { head } = fixture.chain;
    fixture.chain.head = async () => {
      fixture.chain.head = head;
      fixture.pass(2);
      fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE, tx }] });
      return await head();
    };
    await fixture.scan();
    expect(fixture.chain.head).toBe(head);
    fixture.pass(MINUTE);
    await blocks(3);
    await invoice.expectShown({ status: 'confirmed', paid_amount: '0.0005' });
    await invoice.expectReported('invoice.confirmed', 'deposit.settled');
  });
});

describe('a failing node', () => {
  it('that briefly loses its mempool drops only the payments that stay away', async () => {
    fixture.watchedChain.droppedAfterMs = 30_000;
    const { to, expectShown, expectReported } = await anInvoice();
    const tx = newTx();
    const seen = () => send(to, DUE / 2n, { tx });
    const scanAfter = async (ms: number) => {
      fixture.pass(ms);
      await fixture.scan();
    };
    await seen();
    await forget(tx);
    await scanAfter(29_999);
    fixture.chain.wait({ to, amount: DUE / 2n, tx });
    await scanAfter(2);
    await forget(tx);
    await scanAfter(29_999);
    // A node that was down proves nothing.
    fixture.chain.away = true;
    await expect(fixture.scan()).rejects.toThrow('does not answer');
    fixture.chain.away = false;
    await scanAfter(29_999);
    await scanAfter(29_999);
    await expectShown({ status: 'partially_paid' });
    await expectReported('invoice.partially_paid');
    await scanAfter(1);
    await expectShown({ status: 'pending', pending_amount: '0' });
    await expectReported('invoice.partially_paid', 'invoice.payment_reversed');
    // A payment and its replacement never count together.
    await seen();
    fixture.chain.forget(tx);
    await send(to, DUE / 2n);
    await expectShown({ status: 'partially_paid', pending_amount: '0.00025' });
    fixture.watchedChain.droppedAfterMs = 0;
  });

  it('that returns only a part of its mempool makes no payment late', async () => {
    fixture.watchedChain.outageMs = MINUTE;
    const invoice = await anInvoice({ expires_in: 2 });
    fixture.chain.crowded = true;
    fixture.chain.wait({ to: invoice.to, amount: DUE });
    for (let minute = 0; minute < 5; minute++) {
      fixture.pass(MINUTE);
      fixture.chain.mine({});
      // A step reports work until everything is read.
      for (let step = 0; step < 3; step++) expect(await fixture.scanner.step()).toBeGreaterThan(0);
      expect(await expireInvoices(fixture.ports, fixture.watchedChain)).toBe(0);
    }
    await invoice.expectShown({ status: 'pending', payments: [] });
    fixture.chain.crowded = false;
    await fixture.scan();
    await invoice.expectShown({ status: 'confirmed' });
    fixture.watchedChain.outageMs = Number.POSITIVE_INFINITY;
  });

  it('that is down for a moment does not cause a full read of the mempool', async () => {
    const watchPending = fixture.chain.watchPending as NonNullable<typeof fixture.chain.watchPending>;
    let watches = 0;
    fixture.chain.watchPending = () => {
      watches += 1;
      return watchPending();
    };
    const scanner = createScanner(fixture.ports, fixture.watchedChain);
    fixture.chain.watchPending = watchPending;
    const scan = async () => {
      while ((await scanner.step()) > 0);
    };
    await scan();
    expect(watches).toBe(1);
    fixture.chain.away = true;
    await expect(scan()).rejects.toThrow('does not answer');
    fixture.chain.away = false;
    await scan();
    expect(watches).toBe(1);
    // A replica that lost the lease reads it in full: another one has recorded the mempool since.
    await fixture.rows(
      `update leases set holder = 'other', token = token + 1, expires_at = now() - interval '1 second'`,
    );
    await scan();
    expect(watches).toBe(2);
  });

  it('that lags behind the applied blocks drops no payment', async () => {
    const invoice = await anInvoice();
    await blocks(2);
    const tx = await send(invoice.to, DUE);
    fixture.chain.lagsAt = fixture.chain.height() - 1;
    await forget(tx);
    await invoice.expectShown({ status: 'confirmed' });
    fixture.chain.lagsAt = undefined;
    await pay(invoice.to, DUE, { tx });
    await invoice.expectReported('invoice.confirmed');
  });

  it('that fails after a read, or a database that fails during one, is asked again', async () => {
    const invoice = await anInvoice();
    fixture.chain.wait({ to: invoice.to, amount: DUE / 2n });
    const { head } = fixture.chain;
    fixture.chain.head = () => Promise.reject(new Error('cut'));
    await expect(fixture.scan()).rejects.toThrow('cut');
    fixture.chain.head = head;
    await fixture.scan();
    await invoice.expectShown({ status: 'partially_paid' });
    fixture.chain.wait({ to: invoice.to, amount: DUE / 2n });
    const { among } = fixture.watchedChain.filter;
    fixture.watchedChain.filter.among = () => Promise.reject(new Error('away'));
    await expect(fixture.scan()).rejects.toThrow('away');
    fixture.watchedChain.filter.among = among;
    await fixture.scan();
    await invoice.expectShown({ status: 'confirmed' });
  });

  it('that drops a block shows its transaction in the mempool again', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    const tx = await send(invoice.to, DUE);
    await pay(invoice.to, DUE, { tx });
    fixture.pass(5 * MINUTE);
    fixture.chain.reorg(1);
    fixture.chain.wait({ to: invoice.to, amount: DUE, tx });
    await fixture.scan();
    await invoice.expectShown({
      status: 'confirmed',
      payments: [{ tx_hash: tx, status: 'pending', confirmations: 0, block_height: null }],
    });
    // Long after a payment that cannot come back would have been given up.
    await blocks(20);
    await invoice.expectShown({ status: 'confirmed' });
    await pay(invoice.to, DUE, { tx });
    await settle();
    await invoice.expectShown({ status: 'paid', payments: [{ tx_hash: tx }] });
    expect((await invoice.read()).payments).toHaveLength(1);
    await invoice.expectReported(
      'invoice.confirmed',
      'invoice.payment_reversed',
      'deposit.settled',
      'invoice.paid',
    );
  });
});
