import { describe, expect, it } from '@jest/globals';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import fc from 'fast-check';
import { type Deposit, depositStates } from './deposit.ts';
import { type ChainView, type FoldedInvoice, fold } from './fold.ts';
import { mayFollow, statuses } from './invoice.ts';

const START = new Date('2026-03-01T12:00:00.000Z');
const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1_000);
const NOW = at(10_000);
const EXPIRES = at(3_600);

const anInvoice = (over: Partial<FoldedInvoice> = {}): FoldedInvoice => ({
  asset: 'ETH',
  amountDue: units(1_000n),
  toleranceBps: 0,
  dust: units(10n),
  expiresAt: EXPIRES,
  status: 'pending',
  paidAt: null,
  closedAt: null,
  announced: ['invoice.created'],
  ...over,
});

let made = 0;
const aDeposit = (over: Partial<Deposit> = {}): Deposit => {
  made += 1;
  return {
    id: `dep_${made}` as DepositId,
    outpoint: `0x${made}:0`,
    invoiceId: 'inv_1' as InvoiceId,
    asset: 'ETH',
    address: '0xours',
    derivationIndex: 0,
    amount: units(1_000n),
    txHash: `0x${made}`,
    outputIndex: 0,
    blockHeight: 100,
    blockHash: '0xblock',
    firstSeenAt: at(60),
    minConfirmations: 3,
    state: 'seen',
    droppedHeight: null,
    confirmedAt: null,
    disposition: null,
    creditedAt: null,
    ...over,
  };
};

const view = (height: number, knownUntil: Date | null = at(120)): ChainView => ({ height, knownUntil });

describe('fold', () => {
  it('without a word from the chain nothing is decided', () => {
    expect(fold(anInvoice(), [], { height: 0, knownUntil: null }, NOW)).toMatchObject({
      status: 'pending',
      closedAt: null,
      events: [],
    });
  });

  it.each([
    [at(3_600), 'pending'],
    [at(3_600.001), 'expired'],
  ])('known until %s: %s', (knownUntil, status) => {
    expect(fold(anInvoice(), [], view(100, knownUntil), NOW).status).toBe(status);
  });

  it('an invoice that never expires waits', () => {
    expect(fold(anInvoice({ expiresAt: null }), [], view(100, NOW), NOW).status).toBe('pending');
  });

  it.each([
    [at(3_600), 'confirmed'],
    [at(3_600.001), 'expired'],
  ])('first seen %s: %s', (firstSeenAt, status) => {
    expect(fold(anInvoice(), [aDeposit({ firstSeenAt })], view(100, NOW), NOW).status).toBe(status);
  });

  it('paid needs every needed unit final and booked', () => {
    const deposits = (creditedAt: Date | null) => [
      aDeposit({ amount: units(400n), state: 'settled', disposition: 'credit', creditedAt: START }),
      aDeposit({ amount: units(600n), state: 'settled', disposition: 'credit', creditedAt }),
    ];
    expect(fold(anInvoice(), deposits(null), view(110), NOW).status).toBe('confirmed');
    expect(fold(anInvoice(), deposits(START), view(110), NOW)).toMatchObject({ status: 'paid', paidAt: NOW });
  });

  it('nothing is credited before all that is needed is final', () => {
    const early = aDeposit({ amount: units(400n), blockHeight: 98 });
    const late = aDeposit({ amount: units(600n), blockHeight: 100 });
    expect(fold(anInvoice(), [early, late], view(101), NOW)).toMatchObject({
      status: 'confirmed',
      final: [early.id],
      settlements: [],
    });
    expect(fold(anInvoice(), [early, late], view(102), NOW).settlements).toHaveLength(2);
  });

  it('money that comes too late joins a payment that was made in time', () => {
    const timely = aDeposit();
    const late = aDeposit({ firstSeenAt: at(4_000), amount: units(50n) });
    const folded = fold(anInvoice({ status: 'confirmed' }), [timely, late], view(102, NOW), NOW);
    expect(folded).toMatchObject({ status: 'confirmed', paidAmount: 1_050n });
    expect(folded.settlements.map(({ disposition }) => disposition)).toEqual(['credit', 'credit']);
    expect(folded.events).toContain('invoice.overpaid');
  });

  it('but waits while that is not final', () => {
    const timely = aDeposit({ blockHeight: 102 });
    const late = aDeposit({ firstSeenAt: at(4_000), blockHeight: 100 });
    expect(fold(anInvoice({ status: 'confirmed' }), [timely, late], view(102, NOW), NOW).settlements).toEqual(
      [],
    );
  });
});

describe('whatever is observed', () => {
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
  const deposits = fc.array(deposit, { maxLength: 6 });
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
    .record({ height: fc.integer({ min: 95, max: 120 }), until: fc.integer({ min: 0, max: 6_000 }) })
    .map(({ height, until }) => view(height, at(until)));

  it('any order of it, any of it given twice, makes the same', () => {
    fc.assert(
      fc.property(invoice, deposits, chain, fc.infiniteStream(fc.nat()), (given, list, seen, luck) => {
        const shuffled = [...list, ...list.filter(() => (luck.next().value ?? 0) % 2 === 0)]
          .map((one) => ({ one, key: luck.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one);
        expect(fold(given, shuffled, seen, NOW)).toEqual(fold(given, list, seen, NOW));
      }),
    );
  });

  it('folding again what was folded changes and says nothing', () => {
    fc.assert(
      fc.property(invoice, deposits, chain, (given, list, seen) => {
        const once = fold(given, list, seen, NOW);
        const settled = new Map(once.settlements.map((one) => [one.deposit, one.disposition]));
        const after = list.map((one): Deposit => {
          const disposition = settled.get(one.id);
          if (disposition !== undefined) return { ...one, state: 'settled', disposition };
          return once.reversals.includes(one.id) ? { ...one, state: 'reversed', droppedHeight: null } : one;
        });
        const again = fold({ ...given, ...once }, after, seen, at(20_000));
        expect(again).toMatchObject({
          events: [],
          settlements: [],
          reversals: [],
          announced: once.announced,
        });
        expect(again.status).toBe(once.status);
        expect([again.pendingAmount, again.paidAmount]).toEqual([once.pendingAmount, once.paidAmount]);
        expect([again.paidAt, again.closedAt]).toEqual([once.paidAt, once.closedAt]);
      }),
    );
  });

  it('the final states stay, and every move is one of the table’s', () => {
    fc.assert(
      fc.property(invoice, deposits, chain, (given, list, seen) => {
        const { status, closedAt, paidAt } = fold(given, list, seen, NOW);
        expect(mayFollow(given.status, status)).toBe(true);
        if (given.closedAt !== null) expect([status, closedAt]).toEqual([given.status, given.closedAt]);
        if (given.status === 'paid') expect(paidAt).toEqual(given.paidAt);
        expect(paidAt !== null).toBe(status === 'paid');
        expect(status !== 'expired' || closedAt !== null).toBe(true);
      }),
    );
  });

  it('money counts once, or not at all: never dust, another token, or what is gone', () => {
    fc.assert(
      fc.property(invoice, deposits, chain, (given, list, seen) => {
        const { pendingAmount, paidAmount } = fold(given, list, seen, NOW);
        const countable = list.filter(
          (one) =>
            one.asset === 'ETH' && one.amount >= 10n && ['seen', 'settled', 'missing'].includes(one.state),
        );
        const most = countable.reduce((sum, one) => sum + one.amount, 0n) as Units;
        expect(pendingAmount).toBeGreaterThanOrEqual(0n);
        expect(paidAmount).toBeGreaterThanOrEqual(0n);
        expect(pendingAmount + paidAmount).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('only what is final and in the chain is settled, and for credit only what covers the invoice', () => {
    fc.assert(
      fc.property(invoice, deposits, chain, (given, list, seen) => {
        const folded = fold(given, list, seen, NOW);
        const byId = new Map(list.map((one) => [one.id, one]));
        for (const { deposit, disposition } of folded.settlements) {
          const settled = byId.get(deposit);
          expect(settled?.state).toBe('seen');
          expect(seen.height - (settled?.blockHeight ?? 0) + 1).toBeGreaterThanOrEqual(3);
          if (disposition === 'credit') {
            expect(['confirmed', 'paid']).toContain(folded.status);
            expect(settled?.asset).toBe('ETH');
          }
        }
        // Closed without being paid, nothing final is left without a destination.
        if (folded.closedAt !== null) {
          const settled = new Set(folded.settlements.map(({ deposit }) => deposit));
          const left = list.filter((one) => one.state === 'seen' && folded.final.includes(one.id));
          expect(left.every(({ id }) => settled.has(id))).toBe(true);
        }
      }),
    );
  });

  it('paid is never said before confirmed', () => {
    fc.assert(
      fc.property(invoice, deposits, chain, (given, list, seen) => {
        const { events, announced } = fold(given, list, seen, NOW);
        const paid = events.indexOf('invoice.paid');
        if (paid === -1) return expect(paid).toBe(-1);
        const confirmed = events.indexOf('invoice.confirmed');
        expect(announced).toContain('invoice.confirmed');
        expect(confirmed).toBeLessThan(paid);
      }),
    );
  });

  it('block by block or all at once, an open invoice comes out the same', () => {
    const sighting = fc.record({ amount, block: fc.integer({ min: 1, max: 12 }) });
    fc.assert(
      fc.property(fc.array(sighting, { maxLength: 5 }), (sightings) => {
        const list = sightings.map(({ amount: paid, block }) =>
          aDeposit({ amount: paid, blockHeight: block, firstSeenAt: at(block) }),
        );
        const open = anInvoice();
        let progress = open;
        let state = new Map<DepositId, Deposit>();
        for (let height = 1; height <= 20; height++) {
          const there = list
            .filter((one) => one.blockHeight <= height)
            .map((one) => state.get(one.id) ?? one);
          const folded = fold(progress, there, view(height, at(height)), NOW);
          progress = { ...progress, ...folded };
          const settled = new Map(folded.settlements.map((one) => [one.deposit, one.disposition]));
          state = new Map(
            there.map((one): [DepositId, Deposit] => {
              const disposition = settled.get(one.id);
              return [one.id, disposition === undefined ? one : { ...one, state: 'settled', disposition }];
            }),
          );
        }
        const atOnce = fold(open, list, view(20, at(20)), NOW);
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
