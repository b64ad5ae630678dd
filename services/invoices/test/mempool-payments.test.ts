import { describe, expect, it } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { MINUTE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

/** The amount due of an invoice of 25 dollars: 0.0005 BTC. */
const DUE = 50_000n;

const { fixture, anInvoice, blocks, mine, pay, settle, send } = await openFixture({ chain: 'bitcoin' });

describe('a mempool payment', () => {
  it('goes pending → confirmed with its first block, and is paid like any other', async () => {
    const invoice = await anInvoice();
    const tx = await send(invoice.to, DUE);
    const seenAt = fixture.clock.at.toISOString();
    await invoice.expectShown({
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
    await invoice.expectReported();
    fixture.pass(MINUTE);
    await pay(invoice.to, DUE, { tx });
    expect(await fixture.rows('select 1 from mempool_payments where invoice_id = $1', [invoice.id])).toEqual(
      [],
    );
    await invoice.expectShown({
      status: 'confirmed',
      pending_amount: '0.0005',
      payments: [{ tx_hash: tx, status: 'pending', confirmations: 1, first_seen_at: seenAt }],
    });
    await invoice.expectReported('invoice.confirmed');
    await settle();
    await invoice.expectShown({ status: 'paid', paid_amount: '0.0005' });
    await invoice.expectReported('invoice.confirmed', 'deposit.settled', 'invoice.paid');
    const settled = (await fixture.told(invoice.id)).find(({ kind }) => kind === 'deposit.settled');
    expect(settled?.payload).toMatchObject({ outpoint: `${tx}:0`, tx_hash: tx });
  });

  it('that is replaced by a payment to somebody else no longer counts', async () => {
    const invoice = await anInvoice();
    const tx = await send(invoice.to, DUE);
    fixture.chain.forget(tx);
    await send('bcrt1qsomebodyelse', DUE);
    await invoice.expectShown({
      status: 'pending',
      pending_amount: '0',
      payments: [{ tx_hash: tx, status: 'reversed', confirmations: 0 }],
    });
    await invoice.expectReported('invoice.payment_reversed');
    await blocks(5);
    await invoice.expectReported('invoice.payment_reversed');
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
    await one.expectShown({ status: 'confirmed', pending_amount: '0.00051' });
    await other.expectShown({ status: 'partially_paid' });
    // More than the amount due, but all of it can still be dropped.
    await one.expectReported();
    await mine({ pay });
    await one.expectReported('invoice.confirmed', 'invoice.overpaid');
    await other.expectShown({ payments: [{ output_index: 3, confirmations: 1 }] });
  });
});

it('a coinbase payment is final after a hundred blocks', async () => {
  const invoice = await anInvoice();
  await mine({ pay: [{ to: invoice.to, amount: DUE, confirmationsMin: 100 }] });
  await blocks(50);
  await invoice.expectShown({
    status: 'confirmed',
    paid_amount: '0',
    payments: [{ confirmations: 51, required_confirmations: 100 }],
  });
  await blocks(49);
  await invoice.expectShown({ paid_amount: '0.0005' });
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
    await assertProperty(
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
        if (covered) expect(await invoice.changes()).toContain('invoice.confirmed');
        for (const { tx } of waiting) fixture.chain.forget(tx);
        await fixture.scan();
      }),
      { least: 5, most: 25 },
    );
  });
});
