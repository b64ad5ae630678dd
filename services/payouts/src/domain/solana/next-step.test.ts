import { describe, expect, it } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import {
  needsExpiryProof,
  nextSolanaStep,
  type OpenSolanaAttempt,
  type SolanaObservation,
} from './next-step.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const gracePeriods = { resendAfterMs: 5_000, doubtForMs: 30_000 };

const anOpen = (given: Partial<OpenSolanaAttempt> = {}): OpenSolanaAttempt => ({
  minConfirmations: 1,
  createdAt: ago(1_000),
  lastBroadcastAt: ago(1_000),
  ...given,
});
const mined = (confirmations: number, succeeded = true): SolanaObservation => ({
  state: 'mined',
  confirmations,
  succeeded,
});
const outcome = (open: OpenSolanaAttempt, seen: SolanaObservation, isExpired = false) =>
  nextSolanaStep(open, seen, isExpired, now, gracePeriods).is;

describe('a signed Solana transaction', () => {
  it.each([
    ['finalized', anOpen(), mined(1), 'settled'],
    ['finalized and failed', anOpen(), mined(1, false), 'settled'],
    ['not as deep as its asset asks', anOpen({ minConfirmations: 10 }), mined(9), 'in_block'],
    ['voted for', anOpen({ lastBroadcastAt: ago(60_000) }), { state: 'pending' }, 'in_block'],
    ['absent, and never sent', anOpen({ lastBroadcastAt: null }), { state: 'absent' }, 'to_send'],
    ['absent, sent lately', anOpen({ lastBroadcastAt: ago(4_999) }), { state: 'absent' }, 'sent'],
    ['absent, sent long ago', anOpen({ lastBroadcastAt: ago(5_000) }), { state: 'absent' }, 'to_send'],
  ] as const)('%s', (_, open, seen, expected) => {
    expect(outcome(open, seen)).toBe(expected);
  });

  it('needs a proof of its expiry only when it is absent and not new', () => {
    const needs = (seen: SolanaObservation, ms: number) =>
      needsExpiryProof(anOpen({ createdAt: ago(ms) }), seen, now, gracePeriods);
    expect(needs({ state: 'absent' }, 29_999)).toBe(false);
    expect(needs({ state: 'absent' }, 30_000)).toBe(true);
    expect(needs({ state: 'pending' }, 1e9)).toBe(false);
    expect(needs(mined(1), 1e9)).toBe(false);
  });

  it('is expired only when it is proved, and never while a node has it', async () => {
    const date = fc.option(fc.integer({ min: 0, max: 1e9 }).map(ago), { nil: null });
    const anyOpen = fc.record({
      minConfirmations: fc.integer({ min: 1, max: 40 }),
      createdAt: fc.integer({ min: 0, max: 1e9 }).map(ago),
      lastBroadcastAt: date,
    });
    const anySeen: fc.Arbitrary<SolanaObservation> = fc.oneof(
      fc.record({ state: fc.constantFrom<'absent' | 'pending'>('absent', 'pending') }),
      fc.record({ state: fc.constant('mined' as const), confirmations: fc.nat(60), succeeded: fc.boolean() }),
    );
    await assertProperty(
      fc.property(anyOpen, anySeen, fc.boolean(), (open, seen, isExpired) => {
        expect(outcome(open, seen, isExpired) === 'expired').toBe(isExpired && seen.state === 'absent');
      }),
    );
  });
});
