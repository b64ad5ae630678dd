import { describe, expect, it } from '@jest/globals';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import fc from 'fast-check';
import { type Deposit, type Disposition, depositStates } from '../src/domain/deposit.ts';
import { mayFollow, statuses } from '../src/domain/invoice.ts';
import { type ChainView, computeInvoiceState, type InvoiceFacts } from '../src/domain/invoice-state.ts';
import type { InvoicePayments, MempoolPayment } from '../src/domain/mempool-payment.ts';
import { classifyPayments, type ReportedChanges, totalsOf } from './payment-model.ts';

const START = new Date('2026-03-01T12:00:00.000Z');
const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1_000);
const NOW = at(10_000);
const EXPIRES = at(3_600);

const anInvoice = (over: Partial<InvoiceFacts> = {}): InvoiceFacts => ({
  asset: 'ETH',
  amountDue: units(1_000n),
  toleranceBps: 0,
  dust: units(10n),
  expiresAt: EXPIRES,
  status: 'pending',
  paidAt: null,
  closedAt: null,
  reportedEvents: ['invoice.created'],
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
    isHeld: false,
    ...over,
  };
};

const aMempoolPayment = (over: Partial<MempoolPayment> = {}): MempoolPayment => {
  made += 1;
  return {
    outpoint: `0x${made}:0`,
    invoiceId: 'inv_1' as InvoiceId,
    asset: 'ETH',
    address: '0xours',
    amount: units(1_000n),
    txHash: `0x${made}`,
    outputIndex: 0,
    firstSeenAt: at(60),
    droppedAt: null,
    ...over,
  };
};

/** Computes the state from payments that are given one by one, and lists what follows for each. */
function stateOf(
  { told = { reversals: new Set(), late: new Set() }, ...invoice }: InvoiceFacts & { told?: ReportedChanges },
  seen: InvoicePayments,
  chain: ChainView,
  now: Date,
) {
  const computed = computeInvoiceState(invoice, totalsOf(invoice, seen, chain, told), chain, now);
  const { deposits, present, mempoolPayments, isLost, isFinal, counts, inTime, reversalOf, dropOf } =
    classifyPayments(invoice, seen, chain);
  const { counted, uncounted } = computed.destinations;
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  const final = present.filter(isFinal).sort(byId);
  const isKey = (key: string | undefined) => key !== undefined;
  const reversals = [
    ...deposits.filter(counts).map(reversalOf),
    ...mempoolPayments.filter((one) => counts(one) && inTime(one)).map(dropOf),
  ].filter(isKey);
  const late = present.filter((one) => counts(one) && (computed.status === 'expired' || !inTime(one)));
  return {
    ...computed,
    final: final.map(({ id }) => id),
    settlements: final
      .filter(({ state }) => state === 'seen')
      .map((one) => ({ deposit: one.id, disposition: counts(one) ? counted : uncounted }))
      .filter((one): one is { deposit: DepositId; disposition: Disposition } => one.disposition !== null),
    reversals: deposits
      .filter(isLost)
      .sort(byId)
      .map(({ id }) => id),
    told: {
      reversals: new Set([...told.reversals, ...reversals]),
      late: new Set([...told.late, ...(computed.closedAt === null ? [] : late.map(({ id }) => id))]),
    },
  };
}

const stateOfDeposits = (invoice: InvoiceFacts, deposits: readonly Deposit[], chain: ChainView, now: Date) =>
  stateOf(invoice, { deposits, mempoolPayments: [] }, chain, now);

const view = (height: number, knownUntil: Date | null = at(120)): ChainView => ({ height, knownUntil });

describe('computeInvoiceState', () => {
  it('decides nothing before the chain is known', () => {
    expect(stateOfDeposits(anInvoice(), [], { height: 0, knownUntil: null }, NOW)).toMatchObject({
      status: 'pending',
      closedAt: null,
      events: [],
    });
  });

  it.each([
    [at(3_600), 'pending'],
    [at(3_600.001), 'expired'],
  ])('known until %s: %s', (knownUntil, status) => {
    expect(stateOfDeposits(anInvoice(), [], view(100, knownUntil), NOW).status).toBe(status);
  });

  it('keeps an invoice without expiry open', () => {
    expect(stateOfDeposits(anInvoice({ expiresAt: null }), [], view(100, NOW), NOW).status).toBe('pending');
  });

  it.each([
    [at(3_600), 'confirmed'],
    [at(3_600.001), 'expired'],
  ])('first seen %s: %s', (firstSeenAt, status) => {
    expect(stateOfDeposits(anInvoice(), [aDeposit({ firstSeenAt })], view(100, NOW), NOW).status).toBe(
      status,
    );
  });

  it('reports paid only when the needed amount is final and credited', () => {
    const deposits = (creditedAt: Date | null) => [
      aDeposit({ amount: units(400n), state: 'settled', disposition: 'credit', creditedAt: START }),
      aDeposit({ amount: units(600n), state: 'settled', disposition: 'credit', creditedAt }),
    ];
    expect(stateOfDeposits(anInvoice(), deposits(null), view(110), NOW).status).toBe('confirmed');
    expect(stateOfDeposits(anInvoice(), deposits(START), view(110), NOW)).toMatchObject({
      status: 'paid',
      paidAt: NOW,
    });
  });

  it('credits nothing before the needed amount is final', () => {
    const early = aDeposit({ amount: units(400n), blockHeight: 98 });
    const late = aDeposit({ amount: units(600n), blockHeight: 100 });
    expect(stateOfDeposits(anInvoice(), [early, late], view(101), NOW)).toMatchObject({
      status: 'confirmed',
      final: [early.id],
      settlements: [],
    });
    expect(stateOfDeposits(anInvoice(), [early, late], view(102), NOW).settlements).toHaveLength(2);
  });

  it('credits a late payment beside one that was made in time', () => {
    const timely = aDeposit();
    const late = aDeposit({ firstSeenAt: at(4_000), amount: units(50n) });
    const computed = stateOfDeposits(anInvoice({ status: 'confirmed' }), [timely, late], view(102, NOW), NOW);
    expect(computed).toMatchObject({ status: 'confirmed', paidAmount: 1_050n });
    expect(computed.settlements.map(({ disposition }) => disposition)).toEqual(['credit', 'credit']);
    expect(computed.events).toContain('invoice.overpaid');
  });

  it('keeps a late payment waiting until the timely one is final', () => {
    const timely = aDeposit({ blockHeight: 102 });
    const late = aDeposit({ firstSeenAt: at(4_000), blockHeight: 100 });
    expect(
      stateOfDeposits(anInvoice({ status: 'confirmed' }), [timely, late], view(102, NOW), NOW).settlements,
    ).toEqual([]);
  });
});

describe('mempool payments', () => {
  const waiting = (
    mempoolPayments: readonly MempoolPayment[],
    deposits: readonly Deposit[] = [],
  ): InvoicePayments => ({
    deposits,
    mempoolPayments,
  });

  it('count as pending and decide nothing that cannot be undone', () => {
    expect(stateOf(anInvoice(), waiting([aMempoolPayment()]), view(100), NOW)).toMatchObject({
      status: 'confirmed',
      pendingAmount: 1_000n,
      paidAmount: 0n,
      settlements: [],
      events: [],
    });
    const part = stateOf(anInvoice(), waiting([aMempoolPayment({ amount: units(999n) })]), view(100), NOW);
    expect(part).toMatchObject({ status: 'partially_paid', events: ['invoice.partially_paid'] });
    const more = stateOf(anInvoice(), waiting([aMempoolPayment({ amount: units(1_001n) })]), view(100), NOW);
    expect(more).toMatchObject({ status: 'confirmed', events: [] });
  });

  it('invoice.confirmed comes with the first block that covers the needed amount', () => {
    const mined = aDeposit({ amount: units(400n) });
    const rest = aMempoolPayment({ amount: units(600n) });
    const partly = stateOf(anInvoice(), waiting([rest], [mined]), view(101), NOW);
    expect(partly).toMatchObject({ status: 'confirmed', pendingAmount: 1_000n, events: [] });
    const other = aDeposit({ amount: units(600n), outpoint: rest.outpoint });
    const all = stateOf({ ...anInvoice(), ...partly }, waiting([], [mined, other]), view(101), NOW);
    expect(all.events).toEqual(['invoice.confirmed']);
  });

  it('a mempool payment and its deposit count as one payment', () => {
    const mempoolPayment = aMempoolPayment();
    const mined = aDeposit({ outpoint: mempoolPayment.outpoint });
    expect(stateOf(anInvoice(), waiting([mempoolPayment], [mined]), view(100), NOW)).toMatchObject({
      pendingAmount: 1_000n,
      events: ['invoice.confirmed'],
    });
  });

  it('a dropped payment is reported as reversed once, and again when it came back in between', () => {
    const confirmed = anInvoice({ status: 'confirmed' });
    const dropped = aMempoolPayment({ droppedAt: at(90) });
    const once = stateOf(confirmed, waiting([dropped]), view(100), NOW);
    expect(once).toMatchObject({
      status: 'pending',
      pendingAmount: 0n,
      events: ['invoice.payment_reversed'],
    });
    expect(stateOf({ ...confirmed, ...once }, waiting([dropped]), view(101), NOW).events).toEqual([]);
    const again = stateOf(
      { ...confirmed, ...once },
      waiting([{ ...dropped, droppedAt: at(95) }]),
      view(101),
      NOW,
    );
    expect(again.events).toEqual(['invoice.payment_reversed']);
  });

  it('a payment and its replacement count once', () => {
    const replaced = [aMempoolPayment({ droppedAt: at(90) }), aMempoolPayment({ firstSeenAt: at(90) })];
    expect(stateOf(anInvoice({ status: 'confirmed' }), waiting(replaced), view(100), NOW)).toMatchObject({
      status: 'confirmed',
      pendingAmount: 1_000n,
      events: ['invoice.payment_reversed'],
    });
  });

  it.each([
    [at(3_600), 'confirmed', []],
    [at(3_600.001), 'expired', ['invoice.expired']],
  ])('seen %s, and its time is over: %s', (firstSeenAt, status, events) => {
    expect(
      stateOf(anInvoice(), waiting([aMempoolPayment({ firstSeenAt })]), view(100, NOW), NOW),
    ).toMatchObject({
      status,
      events,
    });
  });

  it('hold an expired invoice open until an hour after they were dropped', () => {
    for (const amount of [units(1_000n), units(10n)]) {
      const mempoolPayment = aMempoolPayment({ amount });
      const held = stateOf(anInvoice(), waiting([mempoolPayment]), view(100, NOW), NOW);
      expect(held.closedAt).toBeNull();
      const left = { ...anInvoice(), ...held };
      const dropped = waiting([{ ...mempoolPayment, droppedAt: at(9_000) }]);
      const vanished = stateOf(left, dropped, view(100, at(9_000 + 3_600)), NOW);
      expect(vanished).toMatchObject({ status: 'pending', closedAt: null, pendingAmount: 0n });
      expect(stateOf({ ...left, ...vanished }, dropped, view(100, at(9_000 + 3_600.001)), NOW)).toMatchObject(
        {
          status: 'expired',
          closedAt: NOW,
          events: ['invoice.expired'],
        },
      );
    }
  });

  it('stay in time in whatever block they are mined', () => {
    const mined = aDeposit({ firstSeenAt: at(3_600) });
    expect(stateOfDeposits(anInvoice({ status: 'confirmed' }), [mined], view(102, NOW), NOW)).toMatchObject({
      status: 'confirmed',
      settlements: [{ disposition: 'credit' }],
    });
  });

  it('dust and other tokens are never reported', () => {
    const mempoolPayments = [
      aMempoolPayment({ amount: units(9n), droppedAt: at(90) }),
      aMempoolPayment({ asset: 'USDC_ERC20' }),
      aMempoolPayment({ firstSeenAt: at(4_000), droppedAt: at(4_001) }),
    ];
    expect(stateOf(anInvoice(), waiting(mempoolPayments), view(100), NOW)).toMatchObject({
      status: 'pending',
      pendingAmount: 0n,
      events: [],
    });
  });
});

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
