import { describe, expect, it } from '@jest/globals';
import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import fc from 'fast-check';
import {
  afterDelay,
  changePolicy,
  DAY_MS,
  type DecidedPayout,
  decidedTogether,
  decidePayouts,
  isLooser,
  noPolicy,
  type PayoutPolicy,
  policyAt,
  policyReasons,
  policyText,
  roomOf,
  stricterOf,
} from './policy.ts';

const amount = fc.bigInt({ min: 0n, max: 20n }).map(units);
const limits = fc.record({
  perPayout: fc.option(amount),
  perDay: fc.option(amount),
  approval: fc.option(fc.record({ above: amount, needed: fc.integer({ min: 1, max: 2 }) })),
});
const policies: fc.Arbitrary<PayoutPolicy> = fc.record({
  allowList: fc.boolean(),
  delayHours: fc.integer({ min: 0, max: 3 }),
  limits: fc.record({ ETH: limits, BTC: limits }, { requiredKeys: [] }),
});
const payouts: fc.Arbitrary<DecidedPayout> = fc.record({
  asset: fc.constantFrom<AssetSymbol>('ETH', 'BTC', 'SOL'),
  amount: amount.map((value) => units(value + 1n)),
  isToCustomer: fc.boolean(),
  entry: fc.constantFrom('missing', 'delayed', 'usable'),
});
const now = new Date('2026-11-25T09:30:00.000Z');
const hoursLater = (hours: number) => new Date(now.getTime() + (hours * DAY_MS) / 24);
const none = new Map<AssetSymbol, never>();

const anPayout = (given: Partial<DecidedPayout> = {}): DecidedPayout => ({
  ...{ asset: 'ETH', amount: units(5n), isToCustomer: false, entry: 'missing' },
  ...given,
});
const aPolicy = (given: Partial<PayoutPolicy> = {}): PayoutPolicy => ({ ...noPolicy, ...given });
type Ether = Partial<NonNullable<PayoutPolicy['limits']['ETH']>>;
const ether = (given: Ether): PayoutPolicy =>
  aPolicy({ limits: { ETH: { perPayout: null, perDay: null, approval: null, ...given } } });
const outcomes = (...given: Parameters<typeof decidePayouts>) =>
  decidePayouts(...given).map((one) => (one.outcome === 'refused' ? one.reason : one.outcome));

/** How much a policy forbids of a payout. */
const rank = { allowed: 0, approval: 1, refused: 3 } as const;
const rankOf = (policy: PayoutPolicy, payout: DecidedPayout, paid: Parameters<typeof decidePayouts>[2]) => {
  const [decision] = decidePayouts(policy, [payout], paid);
  return decision?.outcome === 'approval' ? decision.needed : rank[decision?.outcome ?? 'refused'];
};

describe('the stricter of two policies', () => {
  it('forbids of every payout what the stricter of both forbids, or more, and is one of a lattice', () => {
    fc.assert(
      fc.property(policies, policies, payouts, amount, (a, b, payout, paid) => {
        const both = stricterOf(a, b);
        const totals = new Map([[payout.asset, paid]]);
        const most = Math.max(rankOf(a, payout, totals), rankOf(b, payout, totals));
        expect(rankOf(both, payout, totals)).toBeGreaterThanOrEqual(most);
        expect(policyText(both)).toBe(policyText(stricterOf(b, a)));
        expect(policyText(stricterOf(both, a))).toBe(policyText(both));
        expect([isLooser(both, a), isLooser(both, b), isLooser(a, a)]).toEqual([false, false, false]);
      }),
    );
  });

  it('is not looser only when it allows nothing that the other forbids', () => {
    fc.assert(
      fc.property(policies, policies, payouts, amount, (a, b, payout, paid) => {
        fc.pre(!isLooser(a, b));
        const totals = new Map([[payout.asset, paid]]);
        expect(rankOf(a, payout, totals)).toBeGreaterThanOrEqual(rankOf(b, payout, totals));
        expect(a.delayHours).toBeGreaterThanOrEqual(b.delayHours);
      }),
    );
  });

  const [one, two] = [
    { above: units(5n), needed: 1 },
    { above: units(9n), needed: 2 },
  ];
  it.each<[string, Ether, Ether, Ether]>([
    [
      'approvals from the lower amount on, as many as either asks for',
      { approval: one },
      { approval: two },
      { approval: { above: units(5n), needed: 2 } },
    ],
    ['approvals that only one asks for', { approval: one }, {}, { approval: one }],
    [
      'the lower limits',
      { perPayout: units(3n), perDay: units(8n) },
      { perPayout: units(4n), perDay: units(7n) },
      { perPayout: units(3n), perDay: units(7n) },
    ],
    [
      'a limit that only one has',
      { perDay: units(8n) },
      { perPayout: units(4n) },
      { perPayout: units(4n), perDay: units(8n) },
    ],
  ])('has %s, and names no asset that neither limits', (_, a, b, both) => {
    expect(stricterOf(ether(a), ether(b))).toStrictEqual(ether(both));
    expect(stricterOf(ether(b), ether(a))).toStrictEqual(ether(both));
  });
});

describe('a change of the policy', () => {
  it.each([
    [0, '2026-11-25T09:30:00.000Z'],
    [1, '2026-11-25T10:30:00.000Z'],
    [24, '2026-11-26T09:30:00.000Z'],
    [720, '2026-12-25T09:30:00.000Z'],
  ])('that waits %p hours takes effect at %s', (delayHours, at) => {
    expect(afterDelay({ delayHours }, now).toISOString()).toBe(at);
  });

  it('and a new address wait for nothing without a policy', () => {
    expect(afterDelay(noPolicy, now)).toEqual(now);
  });

  it('takes effect at once where it forbids more, and never before the delay where it allows more', () => {
    fc.assert(
      fc.property(policies, policies, fc.integer({ min: 0, max: 2 }), (before, wanted, hours) => {
        const stored = changePolicy({ policy: before, next: null }, wanted, now);
        expect(isLooser(policyAt(stored, now), wanted)).toBe(false);
        const delay = Math.max(before.delayHours, wanted.delayHours);
        if (!isLooser(wanted, before) || delay === 0) expect(stored).toEqual({ policy: wanted, next: null });
        else {
          expect(isLooser(stored.policy, before)).toBe(false);
          expect(stored.next).toEqual({ policy: wanted, at: hoursLater(delay) });
          const later = policyAt(stored, hoursLater(hours));
          expect(later).toBe(hours >= delay ? wanted : stored.policy);
        }
      }),
    );
  });

  it('does not start the delay again when the same change is given again, and does for another one', () => {
    const before = ether({ perDay: units(5n) });
    const first = changePolicy({ policy: { ...before, delayHours: 24 }, next: null }, noPolicy, now);
    const again = changePolicy(first, noPolicy, hoursLater(3));
    expect([first.next?.at, again.next?.at]).toEqual([hoursLater(24), hoursLater(24)]);
    const other = changePolicy(again, ether({ perDay: units(9n) }), hoursLater(3));
    expect(other.next?.at).toEqual(hoursLater(27));
    expect(changePolicy(other, before, hoursLater(4)).next?.policy).toEqual(before);
    expect(policyAt(other, hoursLater(27))).toEqual(ether({ perDay: units(9n) }));
  });

  it('that has taken effect is no change when it is given again', () => {
    const before = { ...ether({ perDay: units(5n) }), delayHours: 24 };
    const wanted = { ...ether({ perDay: units(9n) }), delayHours: 24 };
    const waiting = changePolicy({ policy: before, next: null }, wanted, now);
    for (const hours of [24, 48])
      expect(changePolicy(waiting, wanted, hoursLater(hours))).toEqual({ policy: wanted, next: null });
  });

  it('of an account that has none takes effect at once', () => {
    const wanted = aPolicy({ allowList: true, delayHours: 24 });
    expect(changePolicy(null, wanted, now)).toEqual({ policy: wanted, next: null });
  });
});

describe('a decision about payouts', () => {
  it('never lets more through in 24 hours, or at once, than the limits', () => {
    fc.assert(
      fc.property(policies, fc.array(payouts, { maxLength: 8 }), amount, (policy, asked, before) => {
        const decisions = decidePayouts(policy, asked, new Map([['ETH', before]]));
        for (const asset of assetSymbols) {
          const through = asked.filter(
            (one, i) => one.asset === asset && decisions[i]?.outcome !== 'refused',
          );
          const { perPayout = null, perDay = null, approval = null } = policy.limits[asset] ?? {};
          const sum = through.reduce((all, one) => all + one.amount, asset === 'ETH' ? before : 0n);
          if (perDay !== null && through.length > 0) expect(sum).toBeLessThanOrEqual(perDay);
          for (const one of through) {
            if (perPayout !== null) expect(one.amount).toBeLessThanOrEqual(perPayout);
            const waits = decisions[asked.indexOf(one)]?.outcome === 'approval';
            expect(waits).toBe(approval !== null && one.amount > approval.above);
            if (policy.allowList) expect(one.isToCustomer || one.entry === 'usable').toBe(true);
          }
        }
      }),
    );
  });

  it('says why it refuses', () => {
    const { not_in_address_book, address_too_new, above_payout_limit, above_day_limit } = policyReasons;
    const listed = aPolicy({ allowList: true });
    const delayed = anPayout({ entry: 'delayed' });
    expect(outcomes(listed, [anPayout(), delayed], none)).toEqual([not_in_address_book, address_too_new]);
    expect(outcomes(listed, [anPayout({ isToCustomer: true }), anPayout({ entry: 'usable' })], none)).toEqual(
      [...['allowed', 'allowed']],
    );
    const [five, six] = [anPayout(), anPayout({ amount: units(6n) })];
    expect(outcomes(ether({ perPayout: units(5n) }), [five, six], none)).toEqual([
      'allowed',
      above_payout_limit,
    ]);
    const day = ether({ perDay: units(11n) });
    expect(outcomes(day, [five, six, five], none)).toEqual(['allowed', 'allowed', above_day_limit]);
    expect(outcomes(day, [five, six, five], new Map([['ETH', units(3n)]]))).toEqual([
      ...['allowed', above_day_limit, above_day_limit],
    ]);
    expect(outcomes(ether({ approval: { above: units(5n), needed: 2 } }), [five, six], none)).toEqual([
      ...['allowed', 'approval'],
    ]);
  });

  it('refuses all payouts that belong together when one is refused', () => {
    const day = ether({ perDay: units(6n) });
    const refused = decidedTogether(decidePayouts(day, [anPayout(), anPayout()], none));
    expect(refused).toEqual([
      { outcome: 'refused', reason: policyReasons.other_line },
      { outcome: 'refused', reason: policyReasons.above_day_limit },
    ]);
    expect(decidedTogether(decidePayouts(day, [anPayout()], none))).toEqual([{ outcome: 'allowed' }]);
  });

  it.each([
    ['all of the limit when nothing was paid', 0n, null, 5n],
    ['what is left of the limit', 3n, null, 2n],
    ['nothing when the limit was lowered below what was paid', 9n, null, 0n],
    ['no more than one payout may be', 1n, 3n, 3n],
  ])('has room for %s', (_, paid, perPayout, room) => {
    const policy = ether({ perDay: units(5n), perPayout: perPayout === null ? null : units(perPayout) });
    expect(roomOf(policy, 'ETH', paid === 0n ? none : new Map([['ETH', units(paid)]]))).toBe(room);
  });

  it('lets a payout of the room through, and none of more', () => {
    fc.assert(
      fc.property(policies, amount, (policy, paid) => {
        const totals = new Map([['ETH' as const, paid]]);
        const room = roomOf(policy, 'ETH', totals);
        const isRefused = (value: bigint) =>
          decidePayouts(policy, [anPayout({ amount: units(value), isToCustomer: true })], totals)[0]
            ?.outcome === 'refused';
        if (room === null) expect(isRefused(10n ** 30n)).toBe(false);
        else expect([room > 0n && isRefused(room), isRefused(room + 1n)]).toEqual([false, true]);
      }),
    );
  });
});
