import { describe, expect, it } from '@jest/globals';
import type { DepositId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import fc from 'fast-check';
import { type Deposit, depositStates } from '../src/domain/deposit.ts';
import { mayFollow, statuses } from '../src/domain/invoice.ts';
import type { InvoicePayments, MempoolPayment } from '../src/domain/mempool-payment.ts';
import {
  aDeposit,
  aMempoolPayment,
  anInvoice,
  at,
  EXPIRES,
  NOW,
  START,
  stateOf,
  stateOfDeposits,
  view,
} from './invoice-facts.ts';

describe('for any observations', () => {
  const amount = fc.bigInt({ min: 1n, max: 1_500n }).map(units);
  const deposit = fc
    .record({
      amount,
      asset: fc.constantFrom('ETH' as const, 'ETH' as const, 'ETH' as const, 'USDC_ERC20' as const),
      blockHeight: fc.integer({ min: 90, max: 110 }),
      firstSeenAt: fc.integer({ min: 0, max: 5_000 }).map(at),
      state: fc.constantFrom(...depositStates),
      droppedHeight: fc.integer({ min: 95, max: 112 }),
      disposition: fc.constantFrom('credit' as const, 'unresolved' as const),
      isCredited: fc.boolean(),
    })
    .map(({ disposition, isCredited, droppedHeight, ...rest }) => {
      const isSettled = ['settled', 'missing', 'reversed'].includes(rest.state);
      return aDeposit({
        ...rest,
        droppedHeight: rest.state === 'dropped' || rest.state === 'missing' ? droppedHeight : null,
        disposition: isSettled ? disposition : null,
        creditedAt: isSettled && isCredited ? START : null,
      });
    });
  const mempoolPayment = fc
    .record({
      amount,
      asset: fc.constantFrom('ETH' as const, 'ETH' as const, 'USDC_ERC20' as const),
      firstSeenAt: fc.integer({ min: 0, max: 5_000 }).map(at),
      droppedAt: fc.option(fc.integer({ min: 0, max: 9_000 }).map(at)),
      /** The deposit that it has become, or none. */
      became: fc.option(fc.nat({ max: 5 })),
    })
    .map(({ became, ...rest }) => ({ became, ...aMempoolPayment(rest) }));
  const payments = fc
    .record({
      deposits: fc.array(deposit, { maxLength: 6 }),
      mempoolPayments: fc.array(mempoolPayment, { maxLength: 4 }),
    })
    .map(({ deposits, mempoolPayments }): InvoicePayments => {
      const byOutpoint = new Map<string, MempoolPayment>();
      for (const { became, ...one } of mempoolPayments) {
        const outpoint = (became === null ? undefined : deposits[became]?.outpoint) ?? one.outpoint;
        byOutpoint.set(outpoint, { ...one, outpoint });
      }
      return { deposits, mempoolPayments: [...byOutpoint.values()] };
    });
  const invoice = fc
    .record({
      status: fc.constantFrom(...statuses),
      isClosed: fc.boolean(),
      toleranceBps: fc.constantFrom(0, 0, 50, 500),
      expires: fc.boolean(),
    })
    .map(({ status, isClosed, toleranceBps, expires }) =>
      anInvoice({
        status,
        toleranceBps,
        expiresAt: expires ? EXPIRES : null,
        paidAt: status === 'paid' ? START : null,
        closedAt: status === 'expired' || (status === 'partially_paid' && isClosed) ? START : null,
      }),
    );
  const chain = fc
    .record({ height: fc.integer({ min: 95, max: 120 }), until: fc.integer({ min: 0, max: 14_000 }) })
    .map(({ height, until }) => view(height, at(until)));

  it('any order and any repetition gives the same state', () => {
    fc.assert(
      fc.property(invoice, payments, chain, fc.infiniteStream(fc.nat()), (given, list, seen, luck) => {
        const shuffle = <T>(all: readonly T[]): T[] =>
          [...all, ...all.filter(() => (luck.next().value ?? 0) % 2 === 0)]
            .map((one) => ({ one, key: luck.next().value ?? 0 }))
            .sort((a, b) => a.key - b.key)
            .map(({ one }) => one);
        const shuffled = { deposits: shuffle(list.deposits), mempoolPayments: shuffle(list.mempoolPayments) };
        expect(stateOf(given, shuffled, seen, NOW)).toEqual(stateOf(given, list, seen, NOW));
      }),
    );
  });

  it('computing the state again changes and reports nothing', () => {
    fc.assert(
      fc.property(invoice, payments, chain, (given, list, seen) => {
        const once = stateOf(given, list, seen, NOW);
        const settled = new Map(once.settlements.map((one) => [one.deposit, one.disposition]));
        const after = list.deposits.map((one): Deposit => {
          const disposition = settled.get(one.id);
          if (disposition !== undefined) return { ...one, state: 'settled', disposition };
          return once.reversals.includes(one.id) ? { ...one, state: 'reversed', droppedHeight: null } : one;
        });
        const again = stateOf({ ...given, ...once }, { ...list, deposits: after }, seen, at(20_000));
        expect(again).toMatchObject({
          events: [],
          settlements: [],
          reversals: [],
          reportedEvents: once.reportedEvents,
        });
        expect(again.status).toBe(once.status);
        expect([again.pendingAmount, again.paidAmount]).toEqual([once.pendingAmount, once.paidAmount]);
        expect([again.paidAt, again.closedAt]).toEqual([once.paidAt, once.closedAt]);
      }),
    );
  });

  it('final states stay, and every change follows the table', () => {
    fc.assert(
      fc.property(invoice, payments, chain, (given, list, seen) => {
        const { status, closedAt, paidAt } = stateOf(given, list, seen, NOW);
        expect(mayFollow(given.status, status)).toBe(true);
        if (given.closedAt !== null) expect([status, closedAt]).toEqual([given.status, given.closedAt]);
        if (given.status === 'paid') expect(paidAt).toEqual(given.paidAt);
        expect(paidAt !== null).toBe(status === 'paid');
        expect(status !== 'expired' || closedAt !== null).toBe(true);
      }),
    );
  });

  it('money counts at most once, and never as dust, in another token or when dropped', () => {
    fc.assert(
      fc.property(invoice, payments, chain, (given, list, seen) => {
        const { pendingAmount, paidAmount } = stateOf(given, list, seen, NOW);
        const isGivenUp = ({ droppedHeight }: Deposit) =>
          droppedHeight !== null && seen.height >= droppedHeight + 3;
        const countable = list.deposits.filter(
          (one) =>
            one.asset === 'ETH' &&
            one.amount >= 10n &&
            ['seen', 'settled', 'missing'].includes(one.state) &&
            !isGivenUp(one),
        );
        const inBlocks = new Set(countable.map(({ outpoint }) => outpoint));
        const waiting = list.mempoolPayments.filter(
          (one) =>
            one.asset === 'ETH' && one.amount >= 10n && one.droppedAt === null && !inBlocks.has(one.outpoint),
        );
        const most = [...countable, ...waiting].reduce((sum, one) => sum + one.amount, 0n) as Units;
        const mostFinal = countable.reduce((sum, one) => sum + one.amount, 0n) as Units;
        expect(paidAmount).toBeLessThanOrEqual(mostFinal);
        expect(pendingAmount).toBeGreaterThanOrEqual(0n);
        expect(paidAmount).toBeGreaterThanOrEqual(0n);
        expect(pendingAmount + paidAmount).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('only final deposits in the chain are settled, and credited only when they cover the invoice', () => {
    fc.assert(
      fc.property(invoice, payments, chain, (given, list, seen) => {
        const computed = stateOf(given, list, seen, NOW);
        const byId = new Map(list.deposits.map((one) => [one.id, one]));
        for (const { deposit, disposition } of computed.settlements) {
          const settled = byId.get(deposit);
          expect(settled?.state).toBe('seen');
          expect(seen.height - (settled?.blockHeight ?? 0) + 1).toBeGreaterThanOrEqual(3);
          if (disposition === 'credit') {
            expect(['confirmed', 'paid']).toContain(computed.status);
            expect(settled?.asset).toBe('ETH');
          }
        }
        // An invoice that closed unpaid leaves no final payment without a destination.
        if (computed.closedAt !== null) {
          const settled = new Set(computed.settlements.map(({ deposit }) => deposit));
          const left = list.deposits.filter((one) => one.state === 'seen' && computed.final.includes(one.id));
          expect(left.every(({ id }) => settled.has(id))).toBe(true);
        }
      }),
    );
  });

  it('no invoice closes while a payment is in the mempool or was dropped within the last hour', () => {
    fc.assert(
      fc.property(invoice, payments, chain, (given, list, seen) => {
        const { closedAt } = stateOf(given, list, seen, NOW);
        const known = seen.knownUntil?.getTime() ?? 0;
        const isAwaited = list.mempoolPayments.some(
          ({ asset, amount: paid, firstSeenAt, droppedAt }) =>
            asset === 'ETH' &&
            paid >= 10n &&
            (given.expiresAt === null || firstSeenAt <= given.expiresAt) &&
            (droppedAt === null || known <= droppedAt.getTime() + 3_600_000),
        );
        const inBlocks = new Set(list.deposits.map(({ outpoint }) => outpoint));
        const isAlone = list.mempoolPayments.every(({ outpoint }) => !inBlocks.has(outpoint));
        if (isAwaited && isAlone && given.closedAt === null) expect(closedAt).toBeNull();
      }),
    );
  });

  it('paid is never reported before confirmed', () => {
    fc.assert(
      fc.property(invoice, payments, chain, (given, list, seen) => {
        const { events, reportedEvents } = stateOf(given, list, seen, NOW);
        const paid = events.indexOf('invoice.paid');
        if (paid === -1) return expect(paid).toBe(-1);
        const confirmed = events.indexOf('invoice.confirmed');
        expect(reportedEvents).toContain('invoice.confirmed');
        expect(confirmed).toBeLessThan(paid);
      }),
    );
  });

  it('an open invoice has the same state block by block or all at once', () => {
    const mempoolPayment = fc.record({ amount, block: fc.integer({ min: 1, max: 12 }) });
    fc.assert(
      fc.property(fc.array(mempoolPayment, { maxLength: 5 }), (mempoolPayments) => {
        const list = mempoolPayments.map(({ amount: paid, block }) =>
          aDeposit({ amount: paid, blockHeight: block, firstSeenAt: at(block) }),
        );
        const open = anInvoice();
        let progress = open;
        let state = new Map<DepositId, Deposit>();
        for (let height = 1; height <= 20; height++) {
          const there = list
            .filter((one) => one.blockHeight <= height)
            .map((one) => state.get(one.id) ?? one);
          const computed = stateOfDeposits(progress, there, view(height, at(height)), NOW);
          progress = { ...progress, ...computed };
          const settled = new Map(computed.settlements.map((one) => [one.deposit, one.disposition]));
          state = new Map(
            there.map((one): [DepositId, Deposit] => {
              const disposition = settled.get(one.id);
              return [one.id, disposition === undefined ? one : { ...one, state: 'settled', disposition }];
            }),
          );
        }
        const atOnce = stateOfDeposits(open, list, view(20, at(20)), NOW);
        expect(progress.status).toBe(atOnce.status);
        expect(progress).toMatchObject({
          pendingAmount: atOnce.pendingAmount,
          paidAmount: atOnce.paidAmount,
        });
        const credited = [...state.values()]
          .filter((one) => one.disposition === 'credit')
          .map((one) => one.id);
        const creditedAtOnce = atOnce.settlements
          .filter(({ disposition }) => disposition === 'credit')
          .map((one) => one.deposit);
        expect(credited.sort()).toEqual([...creditedAtOnce].sort());
      }),
    );
  });
});
