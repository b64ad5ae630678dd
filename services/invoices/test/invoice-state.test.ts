import { describe, expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import type { Deposit } from '../src/domain/deposit.ts';
import type { InvoicePayments, MempoolPayment } from '../src/domain/mempool-payment.ts';
import {
  aDeposit,
  aMempoolPayment,
  anInvoice,
  at,
  NOW,
  START,
  stateOf,
  stateOfDeposits,
  view,
} from './invoice-facts.ts';

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
