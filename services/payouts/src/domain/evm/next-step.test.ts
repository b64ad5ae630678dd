import { describe, expect, it } from '@jest/globals';
import { FEE_TIMES_MAX } from '@quittance/shared/fee-ceilings';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import type { GracePeriods } from '../states.ts';
import {
  ATTEMPTS_MAX,
  bumpedFees,
  type EvmObservation,
  type NonceProgress,
  needsSearch,
  nextEvmStep,
  type OpenEvmGroup,
  type StuckGroup,
} from './next-step.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const gracePeriods: GracePeriods = { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 180_000 };

const anOpen = (given: Partial<OpenEvmGroup> = {}): OpenEvmGroup => ({
  nonce: 7,
  minConfirmations: 12,
  blockHash: null,
  lastBroadcastAt: ago(1_000),
  doubtedAt: null,
  ...given,
});
const mined = (confirmations: number, succeeded = true): EvmObservation => ({
  state: 'mined',
  confirmations,
  succeeded,
});
const young: NonceProgress = { latest: 8, finalized: 0 };
const past: NonceProgress = { latest: 9, finalized: 8 };

const outcome = (open: OpenEvmGroup, seen: EvmObservation, progress = young) =>
  nextEvmStep(open, seen, progress, now, gracePeriods);

describe('a signed EVM transaction', () => {
  it.each([
    ['deep enough', mined(12), { is: 'settled', succeeded: true }],
    ['deeper than enough', mined(40), { is: 'settled', succeeded: true }],
    ['deep enough and reverted, but not final', mined(12, false), { is: 'in_block' }],
    ['one block short', mined(11), { is: 'in_block' }],
    ['one block short and reverted', mined(1, false), { is: 'in_block' }],
    ['pending', { state: 'pending' }, { is: 'sent' }],
    ['absent', { state: 'absent' }, { is: 'sent' }],
    ['not reached', { state: 'not_reached' }, { is: 'sent' }],
  ] as const)('%s', (_name, seen, expected) => {
    expect(outcome(anOpen(), seen)).toEqual(expected);
  });

  it('has failed only when that is final, because the same bytes could succeed in another block', () => {
    expect(outcome(anOpen(), mined(40, false), { latest: 8, finalized: 7 })).toEqual({ is: 'in_block' });
    expect(outcome(anOpen(), mined(40, false), past)).toEqual({ is: 'settled', succeeded: false });
    expect(outcome(anOpen(), mined(11, false), past)).toEqual({ is: 'in_block' });
  });

  it('is sent at once when it was never sent, and again after a pause', () => {
    expect(outcome(anOpen({ lastBroadcastAt: null }), { state: 'not_reached' })).toEqual({ is: 'to_send' });
    expect(outcome(anOpen({ lastBroadcastAt: ago(4_999) }), { state: 'pending' })).toEqual({ is: 'sent' });
    expect(outcome(anOpen({ lastBroadcastAt: ago(5_000) }), { state: 'pending' })).toEqual({ is: 'to_send' });
  });

  it('is sent at once when its block was dropped', () => {
    const open = anOpen({ blockHash: '0xb1', lastBroadcastAt: ago(1) });
    expect(outcome(open, { state: 'absent' })).toEqual({ is: 'to_send' });
    expect(outcome(open, { state: 'not_reached' })).toEqual({ is: 'to_send' });
  });

  it.each(['absent', 'pending'] as const)(
    'is doubted for ever while the chain is past it and it is %s',
    (state) => {
      for (const doubtedAt of [null, ago(30_000), ago(1e12)]) {
        expect(outcome(anOpen({ doubtedAt }), { state }, past)).toEqual({ is: 'doubtful' });
      }
    },
  );

  it('is not doubted before its nonce is used in a final block', () => {
    expect(outcome(anOpen(), { state: 'absent' }, { latest: 8, finalized: 7 })).toEqual({ is: 'sent' });
    expect(outcome(anOpen(), { state: 'not_reached' }, past)).toEqual({ is: 'sent' });
  });

  it('is searched for half a minute later, or at once when it was seen in a block', () => {
    const search = (given: Partial<OpenEvmGroup>, progress = past) =>
      needsSearch(anOpen(given), { state: 'absent' }, progress, now, gracePeriods);
    expect(search({})).toBe(false);
    expect(search({ doubtedAt: ago(29_999) })).toBe(false);
    expect(search({ doubtedAt: ago(30_000) })).toBe(true);
    expect(search({ doubtedAt: ago(30_000) }, young)).toBe(false);
    expect(search({ blockHash: '0xb1' })).toBe(true);
  });

  it('is replaced when another transaction with its nonce was found, and in a block when it was found itself', () => {
    expect(outcome(anOpen(), { state: 'replaced' }, past)).toEqual({ is: 'replaced' });
    expect(outcome(anOpen(), { state: 'found' }, past)).toEqual({ is: 'in_block' });
  });

  const date = fc.option(fc.integer({ min: 0, max: 1e6 }).map(ago), { nil: null });
  const anyOpen = fc.record({
    nonce: fc.nat(20),
    minConfirmations: fc.integer({ min: 1, max: 20 }),
    blockHash: fc.option(fc.constant('0xb1'), { nil: null }),
    lastBroadcastAt: date,
    doubtedAt: date,
  });
  const anySeen: fc.Arbitrary<EvmObservation> = fc.oneof(
    fc.record({
      state: fc.constantFrom<'absent' | 'pending' | 'not_reached' | 'found' | 'replaced'>(
        'absent',
        'pending',
        'not_reached',
        'found',
        'replaced',
      ),
    }),
    fc.record({
      state: fc.constant('mined' as const),
      confirmations: fc.nat(40),
      succeeded: fc.boolean(),
    }),
  );
  const anyProgress = fc.record({ latest: fc.nat(20), finalized: fc.nat(20) });

  it('is replaced only when it is proved, and settled only by a receipt that is deep enough', async () => {
    await assertProperty(
      fc.property(anyOpen, anySeen, anyProgress, (open, seen, progress) => {
        const { is } = outcome(open, seen, progress);
        expect(is === 'replaced').toBe(seen.state === 'replaced');
        const isDeep = seen.state === 'mined' && seen.confirmations >= open.minConfirmations;
        expect(is === 'settled').toBe(isDeep && (seen.succeeded || progress.finalized > open.nonce));
      }),
    );
  });
});

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas });
const aStuck = (given: Partial<StuckGroup> = {}): StuckGroup => ({
  first: fees(100n, 10n),
  newest: fees(100n, 10n),
  attempts: 1,
  isNext: true,
  ...given,
});

it.each([
  ['an eighth more, rounded up', aStuck(), fees(50n, 1n), fees(113n, 12n)],
  [
    'exactly an eighth more',
    aStuck({ first: fees(100_000n, 8_000n), newest: fees(100_000n, 8_000n) }),
    fees(1n, 1n),
    fees(112_500n, 9_000n),
  ],
  ['what is usual, when that is more', aStuck(), fees(400n, 30n), fees(400n, 30n)],
  ['in each field by itself', aStuck(), fees(400n, 1n), fees(400n, 12n)],
  ['never more than the cap', aStuck(), fees(5_000n, 5_000n), fees(1_000n, 100n)],
  ['the cap itself', aStuck({ first: fees(9n, 9n), newest: fees(80n, 80n) }), fees(1n, 1n), fees(90n, 90n)],
  ['nothing beyond the cap', aStuck({ newest: fees(900n, 10n) }), fees(5_000n, 1n), undefined],
  [
    'nothing when only the maximum may grow',
    aStuck({ newest: fees(200n, 100n) }),
    fees(300n, 10n),
    undefined,
  ],
  ['nothing after so many attempts', aStuck({ attempts: 7 }), fees(50n, 1n), undefined],
  ['the last one', aStuck({ attempts: 6 }), fees(50n, 1n), fees(113n, 12n)],
  ['nothing for one that only waits', aStuck({ isNext: false }), fees(100n, 99n), undefined],
  ['one that waits and offers too little', aStuck({ isNext: false }), fees(101n, 1n), fees(113n, 12n)],
])('%s', (_, stuck, usual, expected) => {
  expect(bumpedFees(stuck, usual)).toEqual(expected);
});

it('every next attempt is high enough for nodes, within the limits, and the attempts end', async () => {
  const amount = fc.bigInt(1n, 10n ** 12n);
  await assertProperty(
    fc.property(
      amount,
      amount,
      fc.array(fc.tuple(amount, amount), { minLength: 20, maxLength: 20 }),
      (a, b, usual) => {
        const first = a > b ? fees(a, b) : fees(b, a);
        let newest = first;
        let attempts = 1;
        for (const [maxFee, tip] of usual) {
          const next = bumpedFees({ first, newest, attempts, isNext: true }, fees(maxFee, tip));
          if (next === undefined) break;
          expect(next.maxFeePerGas * 1_000n).toBeGreaterThanOrEqual(newest.maxFeePerGas * 1_125n);
          expect(next.maxPriorityFeePerGas * 1_000n).toBeGreaterThanOrEqual(
            newest.maxPriorityFeePerGas * 1_125n,
          );
          expect(next.maxPriorityFeePerGas).toBeLessThanOrEqual(next.maxFeePerGas);
          expect(next.maxFeePerGas).toBeLessThanOrEqual(first.maxFeePerGas * FEE_TIMES_MAX);
          newest = next;
          attempts += 1;
        }
        expect(attempts).toBeLessThanOrEqual(ATTEMPTS_MAX);
      },
    ),
  );
});
