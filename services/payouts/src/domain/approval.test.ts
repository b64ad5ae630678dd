import { describe, expect, it } from '@jest/globals';
import type { ActorId, TokenId } from '@quittance/shared/ids';
import {
  APPROVE_WITHIN_MS,
  type Approvable,
  applyDecision,
  approvalState,
  endOfUnsigned,
  type GivenDecision,
  NOT_APPROVED,
} from './approval.ts';
import { CANCELLED, REJECTED } from './states.ts';

const [maker, anna, ben] = ['tok_maker', 'tok_anna', 'tok_ben'] as TokenId[] as [TokenId, TokenId, TokenId];
const now = new Date('2026-11-25T09:30:00.000Z');
const said = (token: ActorId, decision: GivenDecision['decision'] = 'approved'): GivenDecision => ({
  ...{ token, decision, at: now.toISOString() },
});
const waiting = (given: Partial<Approvable> = {}): Approvable => ({
  status: 'awaiting_approval',
  madeBy: maker,
  approvalsNeeded: 2,
  approvals: [],
  approvalExpiresAt: new Date(now.getTime() + 1),
  cancelRequestedAt: null,
  ...given,
});
const ended = { ok: false, refusal: 'ended' };

describe('a decision', () => {
  it('approves a payout with the last of the tokens that it needs', () => {
    expect(applyDecision(waiting(), 'approved', anna, now)).toEqual({
      ok: true,
      value: { approvals: [said(anna)], isApproved: false, isAgain: false },
    });
    expect(applyDecision(waiting({ approvals: [said(anna)] }), 'approved', ben, now)).toMatchObject({
      value: { approvals: [said(anna), said(ben)], isApproved: true },
    });
    expect(applyDecision(waiting({ approvalsNeeded: 1 }), 'approved', ben, now)).toMatchObject({
      value: { isApproved: true },
    });
  });

  it('of one token counts once', () => {
    expect(applyDecision(waiting({ approvals: [said(anna)] }), 'approved', anna, now)).toEqual({
      ok: true,
      value: { approvals: [said(anna)], isApproved: false, isAgain: true },
    });
  });

  it('is repeated without effect, also by a token that has approved and then rejected', () => {
    const approvals = [said(anna), said(anna, 'rejected')];
    const rejected = waiting({ status: 'failed', approvals });
    for (const decision of ['approved', 'rejected'] as const)
      expect(applyDecision(rejected, decision, anna, now)).toEqual({
        ok: true,
        value: { approvals, isApproved: false, isAgain: true },
      });
    expect(applyDecision(rejected, 'rejected', ben, now)).toEqual(ended);
  });

  it('of the token that has requested the payout is no approval, and may be a rejection', () => {
    expect(applyDecision(waiting(), 'approved', maker, now)).toEqual({ ok: false, refusal: 'own_payout' });
    expect(applyDecision(waiting(), 'rejected', maker, now).ok).toBe(true);
  });

  it('of a person is one of another than the maker exactly when the person is another', () => {
    const [carla, dan] = ['per_carla', 'per_dan'] as ActorId[] as [ActorId, ActorId];
    const ofCarla = waiting({ madeBy: carla, approvalsNeeded: 2 });
    expect(applyDecision(ofCarla, 'approved', carla, now)).toEqual({ ok: false, refusal: 'own_payout' });
    for (const other of [dan, anna]) expect(applyDecision(ofCarla, 'approved', other, now).ok).toBe(true);
    expect(applyDecision(waiting(), 'approved', carla, now).ok).toBe(true);
    const once = waiting({ madeBy: maker, approvals: [said(dan)] });
    expect(applyDecision(once, 'approved', dan, now)).toMatchObject({
      value: { isAgain: true, isApproved: false },
    });
  });

  it('rejects also after an approval of the same token', () => {
    expect(applyDecision(waiting({ approvals: [said(anna)] }), 'rejected', anna, now)).toMatchObject({
      value: { approvals: [said(anna), said(anna, 'rejected')], isApproved: false },
    });
  });

  it('that rejects counts as no approval, also after others have approved', () => {
    const approvals = [said(anna), said(ben)];
    expect(applyDecision(waiting({ approvals }), 'rejected', maker, now)).toMatchObject({
      value: { isApproved: false, isAgain: false },
    });
    const rejected = waiting({ approvals: [said(ben, 'rejected')] });
    expect(applyDecision(rejected, 'approved', anna, now)).toMatchObject({ value: { isApproved: false } });
  });

  it.each([
    ['is signed', { status: 'signed' }],
    ['has failed', { status: 'failed' }],
    ['is rejected or shall be cancelled', { cancelRequestedAt: now }],
    ['has waited too long', { approvalExpiresAt: now }],
  ] satisfies [string, Partial<Approvable>][])('is not taken when the payout %s', (_, given) => {
    expect(applyDecision(waiting(given), 'approved', anna, now)).toEqual(ended);
    expect(applyDecision(waiting(given), 'rejected', anna, now)).toEqual(ended);
    const approvals = [said(anna)];
    expect(applyDecision(waiting({ ...given, approvals }), 'approved', anna, now)).toMatchObject({
      value: { isAgain: true, isApproved: false },
    });
  });

  it('is not taken of a payout that needs none', () => {
    const none = { status: 'reserved', approvalsNeeded: null, approvalExpiresAt: null } as const;
    expect(applyDecision(waiting(none), 'approved', anna, now)).toEqual({
      ok: false,
      refusal: 'no_approval',
    });
  });
});

it('waits for a week', () => {
  expect(new Date(now.getTime() + APPROVE_WITHIN_MS)).toEqual(new Date('2026-12-02T09:30:00.000Z'));
});

it('tells what became of an approval, and why its payout ends', () => {
  const state = (given: Partial<Approvable>, failedReason: string | null = null) =>
    approvalState({ ...waiting(given), approvalsNeeded: 2, failedReason });
  const both = [said(anna), said(ben)];
  expect(state({ approvals: [said(anna)] })).toBe('waiting');
  expect(state({ status: 'mined', approvals: both })).toBe('approved');
  expect(state({ status: 'failed', approvals: both }, CANCELLED)).toBe('approved');
  expect(state({ approvals: [said(anna, 'rejected')] })).toBe('rejected');
  expect(state({ status: 'failed' }, CANCELLED)).toBe('cancelled');
  expect(state({ status: 'failed', approvals: [said(anna)] }, NOT_APPROVED)).toBe('expired');
  const end = (given: Partial<Approvable>) => endOfUnsigned(waiting(given));
  expect(end({ approvals: [said(anna, 'rejected')], cancelRequestedAt: now })).toBe(REJECTED);
  expect(end({ cancelRequestedAt: now })).toBe(CANCELLED);
  expect(end({})).toBe(NOT_APPROVED);
});
