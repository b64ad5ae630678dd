import { describe, expect, it } from '@jest/globals';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import { createScanner } from '../src/workers.ts';
import { MINUTE } from './fixture.ts';
import { DUE, openMempoolFixture } from './mempool-fixture.ts';
import { newTx } from './scripted-chain.ts';

const { fixture, anInvoice, blocks, mine, send, withFresh } = await openMempoolFixture();

describe('a mempool payment and the expiry', () => {
  it('that is seen in time and mined later is in time', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE);
    const tx = await send(invoice.to, DUE);
    fixture.pass(30 * MINUTE);
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.0005' });
    await mine(invoice.to, DUE, tx);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid' });
    expect(await invoice.changes()).toEqual(['invoice.confirmed', 'deposit.settled', 'invoice.paid']);
  });

  it('that is seen a moment too late is late, before and after it is mined', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE + 1);
    const tx = await send(invoice.to, DUE);
    expect(await invoice.read()).toMatchObject({ status: 'pending', pending_amount: '0' });
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'expired', payments: [{ status: 'pending' }] });
    await mine(invoice.to, DUE, tx);
    expect(await invoice.changes()).toEqual(['invoice.expired', 'invoice.late_payment']);
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
      expect(await invoice.read()).toMatchObject({ status });
      fixture.chain.forget(tx);
      await fixture.scan();
      fixture.pass(60 * MINUTE);
      await blocks(1);
      expect(await invoice.read()).toMatchObject({ status: 'pending', pending_amount: '0' });
      expect((await invoice.changes()).at(-1)).toBe('invoice.payment_reversed');
      fixture.pass(1);
      await blocks(1);
      expect(await invoice.read()).toMatchObject({ status: 'expired', pending_amount: '0' });
      expect((await invoice.changes()).slice(-2)).toEqual(['invoice.payment_reversed', 'invoice.expired']);
    },
  );

  it('that is dropped and still mined after the expiry was in time', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    const tx = await send(invoice.to, DUE);
    fixture.chain.forget(tx);
    await fixture.scan();
    fixture.pass(30 * MINUTE);
    await blocks(3);
    expect(await invoice.read()).toMatchObject({ status: 'pending', pending_amount: '0' });
    await mine(invoice.to, DUE, tx);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid' });
  });

  it('hundreds of invoices that are held open do not keep others from expiring', async () =>
    withFresh({ chain: 'bitcoin' }, async (fresh) => {
      await fresh.scan();
      const merchant = fresh.merchant();
      const make = (expires_in: number) => merchant.invoice({ asset: 'BTC', expires_in });
      const held = await Promise.all(Array.from({ length: 240 }, () => make(1)));
      const last = await make(2);
      const pays = (half: boolean) =>
        held
          .filter((_, i) => (i % 2 === 0) === half)
          .map(({ address }) => ({ to: address.address as string, amount: DUE, tx: newTx() }));
      const [mempool, block] = [pays(true), pays(false)];
      fresh.chain.wait(...mempool);
      fresh.chain.mine({ pay: block });
      await fresh.scan();
      for (const { tx } of mempool) fresh.chain.forget(tx);
      fresh.pass(3 * MINUTE);
      // Half of them are dropped; the others have lost their block.
      fresh.chain.reorg(1, {}, {});
      await fresh.scan();
      expect(await merchant.read(last.id)).toMatchObject({ status: 'expired' });
      for (const one of [held[0], held[1]]) {
        expect(await merchant.read(one.id)).toMatchObject({ status: 'pending', pending_amount: '0' });
      }
      fresh.pass(61 * MINUTE);
      fresh.chain.mine({}, {}, {});
      await fresh.scan();
      const { body } = await merchant.get('/api/invoices?status=expired&perPage=1');
      expect(body.meta.total).toBe(241);
    }));

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
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', paid_amount: '0.0005' });
    expect(await invoice.changes()).toEqual(['invoice.confirmed', 'deposit.settled']);
  });
});

describe('a failing node', () => {
  it('that briefly loses its mempool drops only the payments that stay away', async () =>
    withFresh({ chain: 'bitcoin', droppedAfterMs: 30_000 }, async (fresh) => {
      await fresh.scan();
      const merchant = fresh.merchant();
      const invoice = await merchant.invoice({ asset: 'BTC' });
      const to = invoice.address.address as string;
      const kinds = async () => (await fresh.told(invoice.id)).map(({ kind }) => kind).slice(1);
      const tx = newTx();
      const pending = { to, amount: DUE / 2n, tx };
      const scanAfter = async (ms: number) => {
        fresh.pass(ms);
        await fresh.scan();
      };
      fresh.chain.wait(pending);
      await fresh.scan();
      fresh.chain.forget(tx);
      await fresh.scan();
      await scanAfter(29_999);
      fresh.chain.wait(pending);
      await scanAfter(2);
      fresh.chain.forget(tx);
      await fresh.scan();
      await scanAfter(29_999);
      // A node that was down proves nothing.
      fresh.chain.away = true;
      await expect(fresh.scan()).rejects.toThrow('does not answer');
      fresh.chain.away = false;
      await scanAfter(29_999);
      await scanAfter(29_999);
      expect(await merchant.read(invoice.id)).toMatchObject({ status: 'partially_paid' });
      expect(await kinds()).toEqual(['invoice.partially_paid']);
      await scanAfter(1);
      expect(await merchant.read(invoice.id)).toMatchObject({ status: 'pending', pending_amount: '0' });
      expect(await kinds()).toEqual(['invoice.partially_paid', 'invoice.payment_reversed']);
      // A payment and its replacement never count together.
      fresh.chain.wait(pending);
      await fresh.scan();
      fresh.chain.forget(tx);
      fresh.chain.wait({ ...pending, tx: newTx() });
      await fresh.scan();
      expect(await merchant.read(invoice.id)).toMatchObject({
        status: 'partially_paid',
        pending_amount: '0.00025',
      });
    }));

  it('that returns only a part of its mempool makes no payment late', async () =>
    withFresh({ chain: 'bitcoin', outageMs: MINUTE }, async (fresh) => {
      await fresh.scan();
      const merchant = fresh.merchant();
      const invoice = await merchant.invoice({ asset: 'BTC', expires_in: 2 });
      fresh.chain.crowded = true;
      fresh.chain.wait({ to: invoice.address.address, amount: DUE });
      for (let minute = 0; minute < 5; minute++) {
        fresh.pass(MINUTE);
        fresh.chain.mine({});
        // A step reports work until everything is read.
        for (let step = 0; step < 3; step++) expect(await fresh.scanner.step()).toBeGreaterThan(0);
        expect(await expireInvoices(fresh.ports, fresh.watchedChain)).toBe(0);
      }
      expect(await merchant.read(invoice.id)).toMatchObject({ status: 'pending', payments: [] });
      fresh.chain.crowded = false;
      await fresh.scan();
      expect(await merchant.read(invoice.id)).toMatchObject({ status: 'confirmed' });
    }));

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
    fixture.chain.forget(tx);
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    fixture.chain.lagsAt = undefined;
    await mine(invoice.to, DUE, tx);
    expect(await invoice.changes()).toEqual(['invoice.confirmed']);
  });

  it('that fails after a read, or a database that fails during one, is asked again', async () => {
    const invoice = await anInvoice();
    fixture.chain.wait({ to: invoice.to, amount: DUE / 2n });
    const { head } = fixture.chain;
    fixture.chain.head = () => Promise.reject(new Error('cut'));
    await expect(fixture.scan()).rejects.toThrow('cut');
    fixture.chain.head = head;
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid' });
    fixture.chain.wait({ to: invoice.to, amount: DUE / 2n });
    const { among } = fixture.watchedChain.filter;
    fixture.watchedChain.filter.among = () => Promise.reject(new Error('away'));
    await expect(fixture.scan()).rejects.toThrow('away');
    fixture.watchedChain.filter.among = among;
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('that drops a block shows its transaction in the mempool again', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    const tx = await send(invoice.to, DUE);
    await mine(invoice.to, DUE, tx);
    fixture.pass(5 * MINUTE);
    fixture.chain.reorg(1);
    fixture.chain.wait({ to: invoice.to, amount: DUE, tx });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      payments: [{ tx_hash: tx, status: 'pending', confirmations: 0, block_height: null }],
    });
    // Long after a payment that cannot come back would have been given up.
    await blocks(20);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await mine(invoice.to, DUE, tx);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', payments: [{ tx_hash: tx }] });
    expect((await invoice.read()).payments).toHaveLength(1);
    expect(await invoice.changes()).toEqual([
      'invoice.confirmed',
      'invoice.payment_reversed',
      'deposit.settled',
      'invoice.paid',
    ]);
  });
});
