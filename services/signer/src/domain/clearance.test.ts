import { describe, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { sum, type Units, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import {
  type Cleared,
  clear,
  type Evidence,
  type HeldPayout,
  mismatch,
  type OrderedPayment,
  unanswered,
  unreconciled,
} from './clearance.ts';
import { type AssetSigningLimits, noSums, type Sums } from './limits.ts';
import { needsOperator, refusalFor, refusalOf } from './refusal.ts';

const now = new Date('2026-06-01T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

const payment = (given: Partial<OrderedPayment> = {}): OrderedPayment => ({
  ...{ payout: '1', asset: 'ETH', amount: units(100n), to: '0x1' },
  ...given,
});
const hold = (given: Partial<HeldPayout> = {}): HeldPayout => ({
  account: 'acc_1',
  asset: 'ETH',
  amount: units(100n),
  destination: '0x1',
  isPlaced: true,
  available: units(0n),
  depositedSince: units(0n),
  ...given,
});
const evidence = (given: Partial<Evidence> = {}): Evidence => ({
  now,
  holds: new Map([['1', hold()]]),
  reconciledWithinMs: 0,
  reconciliations: undefined,
  limits: {},
  ...given,
});
const refusedFor = (one: OrderedPayment, given: Partial<Evidence> = {}) =>
  clear([one], evidence(given), () => noSums).refused.get(one.payout);

it('a payout that is held as it is asked for is cleared, for the account of its hold', () => {
  expect(clear([payment()], evidence(), () => noSums)).toEqual({
    cleared: [{ payment: payment(), account: 'acc_1' }],
    refused: new Map(),
  });
});

it.each<[string, OrderedPayment, Partial<HeldPayout> | undefined]>([
  ['noHold', payment(), undefined],
  ['holdEnded', payment(), { isPlaced: false }],
  ['asset', payment({ asset: 'ETH_BASE' }), {}],
  ['amount', payment({ amount: units(101n) }), {}],
  ['amount', payment({ amount: units(99n) }), {}],
  ['destination', payment({ to: '0x2' }), {}],
  ['destination', payment(), { destination: null }],
])('%s: a payout is not cleared as %j with a hold as %j', (why, one, given) => {
  const holds = new Map(given === undefined ? [] : [['1', hold(given)]]);
  expect(refusedFor(one, { holds })).toBe(why);
});

it('a payment is what its payout is for when asset, amount and address are the same', () => {
  expect(mismatch(payment(), hold())).toBeUndefined();
});

it('without an answer of the ledger, or of the auditor when it is asked, nothing is known', () => {
  expect(unanswered(evidence())).toBeUndefined();
  expect(unanswered(evidence({ holds: undefined }))).toBe('ledger');
  expect(unanswered(evidence({ reconciledWithinMs: 1 }))).toBe('auditor');
  expect(unanswered(evidence({ reconciledWithinMs: 1, reconciliations: new Map() }))).toBeUndefined();
});

describe('reconciliation', () => {
  const within = { now, reconciledWithinMs: 10 * 60_000 };
  const old = hold({ available: units(0n), depositedSince: units(0n) });

  it('is not asked for when it is switched off', () => {
    expect(unreconciled(old, undefined, { now, reconciledWithinMs: 0 })).toBeUndefined();
    expect(
      unreconciled(old, { passedAt: null, isHalted: true }, { now, reconciledWithinMs: 0 }),
    ).toBeUndefined();
  });

  it.each([
    ['just as old as is allowed', { passedAt: minutesAgo(10), isHalted: false }, undefined],
    ['older', { passedAt: new Date(minutesAgo(10).getTime() - 1), isHalted: false }, 'notReconciled'],
    ['none yet', { passedAt: null, isHalted: false }, 'notReconciled'],
    ['of another asset alone', undefined, 'notReconciled'],
    ['of a halted asset', { passedAt: now, isHalted: true }, 'halted'],
  ])('%s: %j', (_what, reconciliation, expected) => {
    expect(unreconciled(old, reconciliation, within)).toBe(expected);
  });

  it.each([
    [0n, 0n, undefined],
    [100n, 100n, undefined],
    [99n, 100n, 'youngDeposits'],
    [0n, 1n, 'youngDeposits'],
  ])('with %s available of which %s came since then: %s', (available, since, expected) => {
    const young = { available: units(available), depositedSince: units(since) };
    expect(unreconciled(young, { passedAt: now, isHalted: false }, within)).toBe(expected);
  });
});

describe('limits of several payouts of one order', () => {
  const LIMIT = units(1_000n);
  const one = fc.record({
    amount: fc.bigInt({ min: 1n, max: 400n }).map((value) => value as Units),
    account: fc.constantFrom('acc_1', 'acc_2'),
  });

  it('no account and no hour is cleared for more than its limit, and what is refused would exceed it', () =>
    assertProperty(
      fc.property(fc.array(one, { maxLength: 12 }), (all) => {
        const payments = all.map(({ amount }, i) => payment({ payout: String(i), amount }));
        const holds = new Map(all.map(({ amount, account }, i) => [String(i), hold({ amount, account })]));
        const limits = { ETH: { per_account_24h: LIMIT, per_hour: units(1_500n) } };
        const { cleared, refused } = clear(payments, evidence({ holds, limits }), () => noSums);
        expect(cleared.length + refused.size).toBe(all.length);
        const paid = (account?: string) =>
          sum(
            cleared
              .filter((of) => account === undefined || of.account === account)
              .map(({ payment: { amount } }) => amount),
          );
        expect(paid() <= 1_500n && paid('acc_1') <= LIMIT && paid('acc_2') <= LIMIT).toBe(true);
        for (const [payout, why] of refused) {
          const { amount, account } = hold(holds.get(payout));
          expect(why === 'per_hour' ? paid() + amount > 1_500n : paid(account) + amount > LIMIT).toBe(true);
        }
      }),
    ));

  it('those of another asset do not count', () => {
    const [ether, dollars] = [payment(), payment({ payout: '2', asset: 'USDC_ERC20' })];
    const holds = new Map([
      ['1', hold()],
      ['2', hold({ asset: 'USDC_ERC20' })],
    ]);
    const limits = { ETH: { per_24h: units(100n) }, USDC_ERC20: { per_24h: units(100n) } };
    const { refused } = clear([dollars, ether], evidence({ holds, limits }), () => noSums);
    expect(refused.size).toBe(0);
  });
});

describe('what was cleared before', () => {
  const before = { ofAccount24h: 30n, ofHour: 40n, of24h: 50n } as Sums;
  const others = (amount: bigint, account: string, asset: AssetSymbol = 'ETH') => ({
    payment: payment({ payout: 'other', amount: units(amount), asset }),
    account,
  });

  it.each<[keyof AssetSigningLimits, bigint, Cleared[]]>([
    ['per_account_24h', 130n, []],
    ['per_hour', 140n, []],
    ['per_24h', 150n, []],
    ['per_account_24h', 137n, [others(7n, 'acc_1'), others(90n, 'acc_2'), others(90n, 'acc_1', 'ETH_BASE')]],
    ['per_hour', 156n, [others(7n, 'acc_1'), others(9n, 'acc_2'), others(90n, 'acc_1', 'ETH_BASE')]],
    ['per_24h', 166n, [others(7n, 'acc_1'), others(9n, 'acc_2'), others(90n, 'acc_1', 'ETH_BASE')]],
  ])('counts against %s, by its asset and account', (name, most, cleared) => {
    const refusedWith = (limit: bigint) => {
      const limits = { ETH: { [name]: units(limit) } };
      const answer = clear([payment()], evidence({ limits }), () => before, cleared);
      return answer.refused.get('1');
    };
    expect([refusedWith(most), refusedWith(most - 1n)]).toEqual([undefined, name]);
  });
});

describe('a refusal', () => {
  it('names each payout and each reason once, and waits for the longest of them', () => {
    const refused = new Map([
      ['1', 'halted'],
      ['2', 'noHold'],
      ['3', 'halted'],
    ] as const);
    const refusal = refusalFor(refused);
    expect(refusal).toEqual({
      because: 'payouts of the asset are halted; the ledger has no hold for the payout',
      payouts: ['1', '2', '3'],
      foreign: [],
      againAfterMs: 60_000,
    });
    expect(refusal && needsOperator(refusal)).toBe(true);
    expect(refusalFor(new Map())).toBeUndefined();
  });

  it('of who did not answer is short and for no payout', () => {
    expect(refusalOf('ledger')).toMatchObject({ payouts: [], againAfterMs: 1_000 });
    expect(needsOperator(refusalOf('ledger'))).toBe(false);
    expect(refusalOf('rest').againAfterMs).toBe(0);
    expect(refusalOf('halted').againAfterMs).toBe(5_000);
  });

  it('of an order with keys of another wallet names them, and an operator looks into it', () => {
    const refusal = refusalOf('foreign', ['bc1q1']);
    expect(refusal).toMatchObject({ payouts: [], foreign: ['bc1q1'], againAfterMs: 60_000 });
    expect(refusalOf('unknown').foreign).toEqual([]);
  });
});
