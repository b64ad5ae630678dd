import { describe, expect, it } from '@jest/globals';
import { MINUTE, startFixture } from './fixture.ts';
import { DUE, openMempoolFixture } from './mempool-fixture.ts';
import { newTx } from './scripted-chain.ts';

const { fixture, anInvoice, blocks, mine, send } = await openMempoolFixture();

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

  it('hundreds of invoices that are held open do not keep others from expiring', async () => {
    const fresh = await startFixture({ chain: 'bitcoin' });
    try {
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
    } finally {
      await fresh.stop();
    }
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
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', paid_amount: '0.0005' });
    expect(await invoice.changes()).toEqual(['invoice.confirmed', 'deposit.settled']);
  });
});
