import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import { createScanner } from '../src/workers.ts';
import { type Fixture, MINUTE, startFixture } from './fixture.ts';
import { newTx, type Paying } from './scripted-chain.ts';

/** The amount due of an invoice of 25 dollars: 0.0005 BTC. */
const DUE = 50_000n;
const RUNS = 25;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture({ chain: 'bitcoin' });
  await fixture.scan();
});
afterAll(() => fixture.stop());

async function anInvoice(order: object = {}) {
  const invoice = await fixture.anInvoice({ asset: 'BTC', ...order });
  return {
    ...invoice,
    kinds: async () => (await fixture.told(invoice.id)).map(({ kind }) => kind).slice(1),
    mempoolPayments: () => fixture.rows('select * from mempool_payments where invoice_id = $1', [invoice.id]),
  };
}

/** A payment that is seen in the mempool. */
async function send(to: string, amount: bigint, more: Partial<Paying> = {}): Promise<string> {
  const tx = more.tx ?? newTx();
  fixture.chain.wait({ to, amount, ...more, tx });
  await fixture.scan();
  return tx;
}

async function mine(to: string, amount: bigint, tx: string) {
  fixture.chain.mine({ pay: [{ to, amount, tx }] });
  await fixture.scan();
}

async function blocks(count: number) {
  fixture.chain.mine(...Array.from({ length: count }, () => ({})));
  await fixture.scan();
}

describe('a mempool payment', () => {
  it('goes pending → confirmed with its first block, and is paid like any other', async () => {
    const invoice = await anInvoice();
    const tx = await send(invoice.to, DUE);
    const seenAt = fixture.clock.at.toISOString();
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      pending_amount: '0.0005',
      paid_amount: '0',
      payments: [
        {
          tx_hash: tx,
          output_index: 0,
          amount: '0.0005',
          status: 'pending',
          confirmations: 0,
          required_confirmations: 3,
          block_height: null,
          first_seen_at: seenAt,
          confirmed_at: null,
        },
      ],
    });
    expect(await invoice.kinds()).toEqual([]);
    fixture.pass(MINUTE);
    await mine(invoice.to, DUE, tx);
    expect(await invoice.mempoolPayments()).toEqual([]);
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      pending_amount: '0.0005',
      payments: [{ tx_hash: tx, status: 'pending', confirmations: 1, first_seen_at: seenAt }],
    });
    expect(await invoice.kinds()).toEqual(['invoice.confirmed']);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.0005' });
    expect(await invoice.kinds()).toEqual(['invoice.confirmed', 'deposit.settled', 'invoice.paid']);
    const settled = (await fixture.told(invoice.id)).find(({ kind }) => kind === 'deposit.settled');
    expect(settled?.payload).toMatchObject({ outpoint: `${tx}:0`, tx_hash: tx });
  });

  it('in part makes the invoice partially_paid; the rest may come in a block', async () => {
    const invoice = await anInvoice();
    const tx = await send(invoice.to, DUE / 2n);
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid', pending_amount: '0.00025' });
    await mine(invoice.to, DUE / 2n, newTx());
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.0005' });
    // Half of it is still in the mempool.
    expect(await invoice.kinds()).toEqual(['invoice.partially_paid']);
    await mine(invoice.to, DUE / 2n, tx);
    expect(await invoice.kinds()).toEqual(['invoice.partially_paid', 'invoice.confirmed']);
  });

  it('that is replaced by a payment to somebody else no longer counts', async () => {
    const invoice = await anInvoice();
    const tx = await send(invoice.to, DUE);
    fixture.chain.forget(tx);
    await send('bcrt1qsomebodyelse', DUE);
    expect(await invoice.read()).toMatchObject({
      status: 'pending',
      pending_amount: '0',
      payments: [{ tx_hash: tx, status: 'reversed', confirmations: 0 }],
    });
    expect(await invoice.kinds()).toEqual(['invoice.payment_reversed']);
    await blocks(5);
    expect(await invoice.kinds()).toEqual(['invoice.payment_reversed']);
  });

  it('that is replaced by another payment to us counts once and is never reported as overpaid', async () => {
    const invoice = await anInvoice();
    const first = await send(invoice.to, DUE);
    fixture.chain.forget(first);
    const second = await send(invoice.to, DUE);
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      pending_amount: '0.0005',
      payments: [
        { tx_hash: first, status: 'reversed' },
        { tx_hash: second, status: 'pending' },
      ],
    });
    await mine(invoice.to, DUE, second);
    await blocks(2);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.0005' });
    expect(await invoice.kinds()).toEqual([
      'invoice.payment_reversed',
      'invoice.confirmed',
      'deposit.settled',
      'invoice.paid',
    ]);
  });

  it('counts once when the replacement is mined in the same block', async () => {
    const invoice = await anInvoice();
    const first = await send(invoice.to, DUE);
    fixture.chain.forget(first);
    await mine(invoice.to, DUE / 2n, newTx());
    expect(await invoice.read()).toMatchObject({ status: 'partially_paid', pending_amount: '0.00025' });
    expect(await invoice.kinds()).toEqual(['invoice.payment_reversed']);
  });

  it('that was reported as reversed is credited when it is mined days later', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    const tx = await send(invoice.to, DUE);
    fixture.chain.forget(tx);
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    fixture.pass(30_000);
    await mine(invoice.to, DUE, tx);
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      payments: [{ status: 'pending', confirmations: 1 }],
    });
  });

  it('dust and payments to others do not count', async () => {
    const invoice = await anInvoice();
    await send(invoice.to, 999n);
    expect(await invoice.read()).toMatchObject({
      status: 'pending',
      pending_amount: '0',
      payments: [{ amount: '0.00000999', status: 'pending' }],
    });
    expect(await invoice.kinds()).toEqual([]);
  });

  it('several outputs of one transaction are several payments', async () => {
    const [one, other] = [await anInvoice(), await anInvoice()];
    const tx = newTx();
    const pay = [
      { to: one.to, amount: DUE, tx, index: 0 },
      { to: other.to, amount: DUE / 2n, tx, index: 3 },
      { to: one.to, amount: 1_000n, tx, index: 4 },
    ];
    fixture.chain.wait(...pay);
    await fixture.scan();
    expect(await one.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.00051' });
    expect(await other.read()).toMatchObject({ status: 'partially_paid' });
    // More than the amount due, but all of it can still be dropped.
    expect(await one.kinds()).toEqual([]);
    fixture.chain.mine({ pay });
    await fixture.scan();
    expect(await one.kinds()).toEqual(['invoice.confirmed', 'invoice.overpaid']);
    expect(await other.read()).toMatchObject({ payments: [{ output_index: 3, confirmations: 1 }] });
  });
});

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
    expect(await invoice.kinds()).toEqual(['invoice.confirmed', 'deposit.settled', 'invoice.paid']);
  });

  it('that is seen a moment too late is late, before and after it is mined', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE + 1);
    const tx = await send(invoice.to, DUE);
    expect(await invoice.read()).toMatchObject({ status: 'pending', pending_amount: '0' });
    await blocks(1);
    expect(await invoice.read()).toMatchObject({ status: 'expired', payments: [{ status: 'pending' }] });
    await mine(invoice.to, DUE, tx);
    expect(await invoice.kinds()).toEqual(['invoice.expired', 'invoice.late_payment']);
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
      expect((await invoice.kinds()).at(-1)).toBe('invoice.payment_reversed');
      fixture.pass(1);
      await blocks(1);
      expect(await invoice.read()).toMatchObject({ status: 'expired', pending_amount: '0' });
      expect((await invoice.kinds()).slice(-2)).toEqual(['invoice.payment_reversed', 'invoice.expired']);
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
    expect(await invoice.kinds()).toEqual(['invoice.confirmed', 'deposit.settled']);
  });
});

describe('a failing node', () => {
  it('that briefly loses its mempool drops only the payments that stay away', async () => {
    const fresh = await startFixture({ chain: 'bitcoin', droppedAfterMs: 30_000 });
    try {
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
    } finally {
      await fresh.stop();
    }
  });

  it('that returns only a part of its mempool makes no payment late', async () => {
    const fresh = await startFixture({ chain: 'bitcoin', outageMs: MINUTE });
    try {
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
    } finally {
      await fresh.stop();
    }
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
    fixture.chain.forget(tx);
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    fixture.chain.lagsAt = undefined;
    await mine(invoice.to, DUE, tx);
    expect(await invoice.kinds()).toEqual(['invoice.confirmed']);
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
    expect(await invoice.kinds()).toEqual([
      'invoice.confirmed',
      'invoice.payment_reversed',
      'deposit.settled',
      'invoice.paid',
    ]);
  });
});

it('a coinbase payment is final after a hundred blocks', async () => {
  const invoice = await anInvoice();
  fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE, confirmationsMin: 100 }] });
  await fixture.scan();
  await blocks(50);
  expect(await invoice.read()).toMatchObject({
    status: 'confirmed',
    paid_amount: '0',
    payments: [{ confirmations: 51, required_confirmations: 100 }],
  });
  await blocks(49);
  expect(await invoice.read()).toMatchObject({ paid_amount: '0.0005' });
});

describe('for any order of mempool and block events', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), parts: fc.integer({ min: 1, max: 5 }) }),
    fc.record({
      do: fc.constantFrom('mine' as const, 'forget' as const, 'replace' as const),
      which: fc.nat(),
    }),
    fc.record({
      do: fc.constantFrom('empty' as const, 'reorg' as const, 'scan' as const, 'restart' as const),
    }),
  );

  it('mempool payments and deposits in the chain count once each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const invoice = await anInvoice({ amount: 1_000 });
        const due = 2_000_000n;
        await blocks(3);
        const waiting: { tx: string; amount: bigint }[] = [];
        const mined: { tx: string; amount: bigint }[][] = [];
        const wait = (one: { tx: string; amount: bigint }) => {
          waiting.push(one);
          fixture.chain.wait({ to: invoice.to, ...one });
        };
        const takeAway = (which: number) => {
          const [one] = waiting.splice(which % Math.max(1, waiting.length), 1);
          if (one !== undefined) fixture.chain.forget(one.tx);
          return one;
        };
        for (const one of steps) {
          if (one.do === 'send') wait({ tx: newTx(), amount: (due * BigInt(one.parts)) / 8n });
          if (one.do === 'forget') takeAway(one.which);
          if (one.do === 'replace') {
            const replaced = takeAway(one.which);
            if (replaced !== undefined) wait({ ...replaced, tx: newTx() });
          }
          if (one.do === 'mine') {
            const taken = takeAway(one.which);
            mined.push(taken === undefined ? [] : [taken]);
            fixture.chain.mine({ pay: mined.at(-1)?.map((paid) => ({ to: invoice.to, ...paid })) ?? [] });
          }
          if (one.do === 'empty') {
            mined.push([]);
            fixture.chain.mine({});
          }
          // The newest block is dropped, its transactions return to the mempool, and two empty blocks follow.
          if (one.do === 'reorg' && mined.length > 0) {
            const left = mined.pop() ?? [];
            fixture.chain.reorg(1, {}, {});
            mined.push([], []);
            for (const paid of left) wait(paid);
          }
          if (one.do === 'scan') await fixture.scan();
          if (one.do === 'restart') await fixture.scanner.leave();
        }
        await fixture.scan();
        const total = [...waiting, ...mined.flat()].reduce((sum, { amount }) => sum + amount, 0n);
        const { status, pending_amount, paid_amount } = await invoice.read();
        const shown = BigInt(Math.round((Number(pending_amount) + Number(paid_amount)) * 1e8)); // eslint-disable-line no-restricted-syntax -- exact below 2^53
        expect(shown).toBe(total);
        expect(status).toBe(total === 0n ? 'pending' : total < due ? 'partially_paid' : 'confirmed');
        const covered = mined.flat().reduce((sum, { amount }) => sum + amount, 0n) >= due;
        if (covered) expect(await invoice.kinds()).toContain('invoice.confirmed');
        for (const { tx } of waiting) fixture.chain.forget(tx);
        await fixture.scan();
      }),
      { numRuns: RUNS },
    );
  });
});
