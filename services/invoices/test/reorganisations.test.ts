import { expect, it } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { DUE, MINUTE, openFixture } from './fixture.ts';
import { newTx, type Script } from './scripted-chain.ts';

const { fixture, anInvoice, pay, settle, blocks, mine, reorg, pass } = await openFixture();

it.each([1, 2])('a reorganisation %i deep before a payment is final takes it back', async (depth) => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE);
  if (depth === 2) await blocks(1);
  await reorg(depth);
  await invoice.expectShown({
    status: 'pending',
    pending_amount: '0',
    payments: [{ status: 'reversed', confirmations: 0, block_height: null, confirmed_at: null }],
  });
  await invoice.expectReported('invoice.confirmed', 'invoice.payment_reversed');
  // Another payment makes it confirmed again, which is reported once.
  await pay(invoice.to, DUE);
  await settle();
  await invoice.expectShown({ status: 'paid', paid_amount: '0.01' });
  expect((await invoice.kinds()).slice(3)).toEqual(['deposit.settled', 'invoice.paid']);
});

it('a part that comes after the first part was dropped is reported', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE / 4n);
  fixture.chain.reorg(1, {}, {});
  await blocks(1);
  await invoice.expectShown({ status: 'pending' });
  await pay(invoice.to, DUE / 2n);
  await invoice.expectShown({ status: 'partially_paid' });
  await invoice.expectReported(
    'invoice.partially_paid',
    'invoice.payment_reversed',
    'invoice.partially_paid',
  );
});

it('dropped past the expiry, a payment may come back for as many blocks as confirm it; then the invoice expires', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pay(invoice.to, DUE);
  await pass(2 * MINUTE);
  await reorg(2);
  await invoice.expectShown({ status: 'pending' });
  await blocks(2);
  await invoice.expectShown({ status: 'pending' });
  await blocks(1);
  await invoice.expectShown({ status: 'expired' });
  await invoice.expectReported('invoice.confirmed', 'invoice.payment_reversed', 'invoice.expired');
});

it('dropped past the expiry and mined again, a payment is in time if it was first seen in time', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  const { tx } = await pay(invoice.to, DUE);
  fixture.pass(2 * MINUTE);
  fixture.chain.reorg(1);
  await blocks(1);
  await invoice.expectShown({ status: 'pending' });
  await pay(invoice.to, DUE, { tx });
  await invoice.expectShown({ status: 'confirmed' });
  await settle();
  await invoice.expectShown({ status: 'paid', payments: [{ tx_hash: tx, status: 'confirmed' }] });
});

it('a payment that only moves to another block is never reported as reversed', async () => {
  const invoice = await anInvoice();
  const { tx } = await pay(invoice.to, DUE);
  await reorg(1, {}, { pay: [{ to: invoice.to, amount: DUE, tx }] });
  await invoice.expectShown({
    status: 'confirmed',
    payments: [{ status: 'pending', confirmations: 1, block_height: fixture.chain.height() }],
  });
  await invoice.expectReported('invoice.confirmed');
  await blocks(2);
  expect((await invoice.kinds()).filter((kind) => kind === 'deposit.settled')).toHaveLength(1);
});

it('a branch that is known only in part undoes and reports nothing', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE / 2n);
  const { tx } = await pay(invoice.to, DUE / 4n);
  await blocks(1);
  await invoice.expectShown({ paid_amount: '0.005', pending_amount: '0.0025' });
  // The node has only the first block of its new branch; a later one has the second payment again.
  const pays = { pay: [{ to: invoice.to, amount: DUE / 4n, tx }] };
  fixture.chain.reorg(2, {}, pays);
  fixture.chain.missesAbove = fixture.chain.height() - 1;
  await fixture.scan();
  await invoice.expectShown({ paid_amount: '0.005', pending_amount: '0.0025' });
  fixture.chain.missesAbove = undefined;
  await fixture.scan();
  await invoice.expectShown({
    paid_amount: '0.005',
    pending_amount: '0.0025',
    payments: [{ confirmations: 3 }, { confirmations: 1, block_height: fixture.chain.height() }],
  });
  expect(await invoice.kinds()).not.toContain('invoice.payment_reversed');
  await pay(invoice.to, DUE / 4n);
  await settle();
  await invoice.expectShown({ status: 'paid' });
});

it('paid, dropped deeper than its confirmations and lost: it stays paid, the credit is reversed', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE);
  await settle();
  await reorg(3, {}, {}, {});
  // It may still come back, so nothing is reported yet.
  await invoice.expectShown({
    status: 'paid',
    paid_amount: '0.01',
    reversed_amount: '0',
    payments: [{ status: 'confirmed', block_height: null }],
  });
  expect((await invoice.kinds()).at(-1)).toBe('invoice.paid');
  await blocks(2);
  expect((await invoice.kinds()).at(-1)).toBe('invoice.paid');
  await blocks(1);
  await invoice.expectShown({
    status: 'paid',
    paid_amount: '0',
    reversed_amount: '0.01',
    payments: [{ status: 'reversed' }],
  });
  expect((await invoice.kinds()).slice(-2)).toEqual(['deposit.reversed', 'invoice.payment_reversed']);
  expect((await invoice.last())?.payload.data).toMatchObject({ paid_amount: '0', reversed_amount: '0.01' });
  await blocks(10);
  expect((await invoice.kinds()).slice(-2)).toEqual(['deposit.reversed', 'invoice.payment_reversed']);
});

it('paid, dropped and mined again in time: nothing changes', async () => {
  const invoice = await anInvoice();
  const { tx } = await pay(invoice.to, DUE);
  await settle();
  const before = await invoice.kinds();
  fixture.chain.reorg(3);
  await blocks(2);
  await pay(invoice.to, DUE, { tx });
  await blocks(20);
  expect(await invoice.kinds()).toEqual(before);
  await invoice.expectShown({ status: 'paid', payments: [{ status: 'confirmed' }] });
});

it('reversed, and mined again after all: settled again, as another deposit', async () => {
  const invoice = await anInvoice();
  const { tx } = await pay(invoice.to, DUE);
  await settle();
  fixture.chain.reorg(3);
  await blocks(3);
  expect((await invoice.kinds()).at(-1)).toBe('invoice.payment_reversed');
  await pay(invoice.to, DUE, { tx });
  await settle();
  const settled = await invoice.settled();
  expect(settled.map(({ payload }) => payload.disposition)).toEqual(['credit', 'credit']);
  expect(new Set(settled.map(({ payload }) => payload.deposit_id)).size).toBe(2);
  await invoice.expectShown({
    status: 'paid',
    paid_amount: '0.01',
    reversed_amount: '0',
    payments: [{ status: 'reversed' }, { status: 'confirmed' }],
  });
});

it('settled, not yet credited, and reversed: never paid, and the late credit changes nothing', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE);
  await blocks(2);
  fixture.chain.reorg(3);
  await blocks(3);
  await invoice.expectShown({ status: 'pending' });
  await fixture.credit();
  await invoice.expectShown({ status: 'pending', paid_amount: '0' });
});

type Sent = { to: number; amount: bigint; inside: boolean; tx: string };
/** A payment goes to one of three invoices. */
const payment = fc.record({
  to: fc.integer({ min: 0, max: 2 }),
  parts: fc.integer({ min: 1, max: 6 }),
  inside: fc.boolean(),
});
const step = fc.record({
  /** How many blocks are dropped, then the new ones. */
  depth: fc.integer({ min: 0, max: 4 }),
  blocks: fc.array(fc.array(payment, { maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  /** The dropped payments are mined again in the last new block. */
  again: fc.boolean(),
  scans: fc.boolean(),
  handsOver: fc.boolean(),
  credits: fc.boolean(),
});

it('for any sequence of branches, the final chain alone decides the state of an invoice', async () => {
  await assertProperty(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      // A step checks a few hundred balances: those of earlier runs would delay these.
      await fixture.rows('update addresses set balance_check_at = null');
      const invoices = [await anInvoice(), await anInvoice(), await anInvoice()];
      await fixture.scan();
      const floor = fixture.chain.height();
      // The content of each block above the floor: the expected result.
      let keptBlocks: Sent[][] = [];
      for (const { depth, blocks, again, scans, handsOver, credits } of steps) {
        const left = keptBlocks.splice(Math.max(0, keptBlocks.length - depth));
        const come: Sent[][] = blocks.map((payments) =>
          payments.map(({ to, parts, inside }) => ({
            to,
            amount: (DUE * BigInt(parts)) / 8n,
            inside,
            tx: newTx(),
          })),
        );
        // A winning branch is not shorter.
        while (come.length < left.length) come.push([]);
        if (again) come.at(-1)?.push(...left.flat());
        keptBlocks = [...keptBlocks, ...come];
        const scripts = come.map((payments): Script => {
          const named = payments.map(({ to, ...rest }) => ({ ...rest, to: invoices[to]?.to ?? '' }));
          return {
            pay: named.filter(({ inside }) => !inside),
            inside: named.filter(({ inside }) => inside),
          };
        });
        fixture.chain.reorg(left.length, ...scripts);
        expect(fixture.chain.height()).toBe(floor + keptBlocks.length);
        if (handsOver) await fixture.scanner.leave();
        if (scans) await fixture.scan();
        if (credits) await fixture.credit();
      }
      // Long enough to give up dropped payments and to check the balances of paid invoices.
      fixture.pass(20 * MINUTE);
      await mine(...Array.from({ length: 8 }, () => ({})));
      await fixture.credit();

      for (const [i, invoice] of invoices.entries()) {
        const due = keptBlocks.flat().filter(({ to }) => to === i);
        const total = due.reduce((sum, { amount }) => sum + amount, 0n);
        const deposits = await invoice.deposits();
        const inChain = deposits.filter(({ state }) => state === 'seen' || state === 'settled');
        expect(inChain.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(total);
        expect(deposits.filter(({ state }) => state === 'missing')).toEqual([]);
        const { status, payments } = await invoice.read();
        // A paid invoice stays paid; otherwise the payments in the chain decide.
        if (status !== 'paid') {
          expect(status).toBe(total === 0n ? 'pending' : 'partially_paid');
          expect(total).toBeLessThan(DUE);
        }
        expect(payments).toHaveLength(deposits.length);
        const told = (await fixture.told(invoice.id)).filter(({ kind }) => kind.startsWith('deposit.'));
        const credited = told.reduce(
          (sum, { kind, payload }) => sum + (kind === 'deposit.settled' ? 1n : -1n) * BigInt(payload.amount),
          0n,
        );
        // Settled minus reversed events equal the settled deposits in the chain.
        const settled = inChain.filter(({ state }) => state === 'settled');
        expect(credited).toBe(settled.reduce((sum, { amount }) => sum + BigInt(amount), 0n));
        if (status === 'paid') expect(settled).toHaveLength(inChain.length);
        const keys = told.map(({ kind, payload }) => `${kind} ${payload.deposit_id}`);
        expect(new Set(keys).size).toBe(keys.length);
      }
    }),
    { least: 5, most: 20 },
  );
});
