import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ETHER, MINUTE, openFixture } from './fixture.ts';
import { newTx, type Script } from './scripted-chain.ts';

const DUE = ETHER / 100n;
const RUNS = 20;

const { fixture, anInvoice } = await openFixture();

const empty = (count: number): Script[] => Array.from({ length: count }, () => ({}));

describe('for any sequence of branches', () => {
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

  it('the final chain alone decides the state of an invoice', async () => {
    await fc.assert(
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
        fixture.chain.mine(...empty(8));
        await fixture.scan();
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
            (sum, { kind, payload }) =>
              sum + (kind === 'deposit.settled' ? 1n : -1n) * BigInt(payload.amount),
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
      { numRuns: RUNS },
    );
  });
});
