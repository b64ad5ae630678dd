import { describe, expect, it } from '@jest/globals';
import { newTokenId, type PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { HOT } from '@quittance/testkit/scripted-evm-sender';
import { type ApprovalDecision, NOT_APPROVED } from '../src/domain/approval.ts';
import { noPolicy } from '../src/domain/policy.ts';
import { REJECTED } from '../src/domain/states.ts';
import { decideApproval } from '../src/operations/approve-payout.ts';
import { replacePolicy } from '../src/operations/change-policy.ts';
import { stalledPayouts } from '../src/store/payouts.ts';
import { chainWorkerStep } from '../src/workers.ts';
import { halt, resume } from './chain-worker-fixture.ts';
import { engineSuite } from './engine-fixture.ts';

/** What the chain worker does with payouts that wait for approvals. */
const fixture = engineSuite(10n);

/** A payout that needs this many approvals. */
async function waiting(needed = 1) {
  const limits = { ETH: { perPayout: null, perDay: null, approval: { above: units(0n), needed } } };
  await replacePolicy(fixture.ports, fixture.account, { ...noPolicy, limits }, undefined);
  return await fixture.reserve();
}
const say = (payout: { id: PayoutId }, decision: ApprovalDecision, token = newTokenId(new Date())) =>
  decideApproval(fixture.ports, payout.id, decision, token);
const reasonOf = async ({ id }: { id: PayoutId }) => (await fixture.payout(id))['failed_reason'];
const endTime = ({ id }: { id: PayoutId }) =>
  fixture.db.rows(`update payouts set approval_expires_at = now() where id = $1`, [id]);
const undone = ['payout.created', 'hold.release', 'payout.failed'];

describe('a payout that waits for approvals', () => {
  it('is not signed until it has all of them, and is paid then', async () => {
    const payout = await waiting(2);
    await fixture.rounds(2, 1_000);
    expect(await say(payout, 'approved')).toMatchObject({ ok: true, value: { status: 'awaiting_approval' } });
    await fixture.rounds(2, 1_000);
    expect([await fixture.statusOf(payout), fixture.sent]).toEqual(['awaiting_approval', []]);
    expect(await say(payout, 'approved')).toMatchObject({ ok: true, value: { status: 'reserved' } });
    await fixture.expectPaid(payout);
    expect(await fixture.published(payout.id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('is signed in the next round after its last approval when nothing else is open', async () => {
    const payout = await waiting();
    const step = chainWorkerStep(fixture.ports, fixture.ports);
    await step();
    await say(payout, 'approved');
    await step();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
  });

  it('is approved by exactly one of two tokens that come at once when one is enough', async () => {
    const payout = await waiting();
    const both = await Promise.all([say(payout, 'approved'), say(payout, 'approved')]);
    expect(both.map(({ ok }) => ok).sort()).toEqual([false, true]);
    await fixture.expectPaid(payout);
  });

  it('is never paid and rejected: of an approval and a rejection at once one counts', async () => {
    for (let i = 0; i < 5; i++) {
      const payout = await waiting();
      const [approved, rejected] = await Promise.all([say(payout, 'approved'), say(payout, 'rejected')]);
      expect([approved.ok, rejected.ok].sort()).toEqual([false, true]);
      await fixture.finish();
      expect(await fixture.statusOf(payout)).toBe(approved.ok ? 'mined' : 'failed');
    }
  });

  it('fails when it is rejected, and its hold is released', async () => {
    const payout = await waiting(2);
    await say(payout, 'approved');
    expect(await say(payout, 'rejected')).toMatchObject({ ok: true, value: { status: 'awaiting_approval' } });
    expect(await say(payout, 'approved')).toEqual({ ok: false, refusal: 'ended' });
    await fixture.run();
    expect([await fixture.statusOf(payout), await reasonOf(payout)]).toEqual(['failed', REJECTED]);
    expect(await fixture.published(payout.id)).toEqual(undone);
  });

  it('fails when its time is over, and cannot be approved any more', async () => {
    const [payout, other] = [await waiting(), await waiting()];
    await endTime(payout);
    expect(await say(payout, 'approved')).toEqual({ ok: false, refusal: 'ended' });
    await fixture.run();
    expect([await fixture.statusOf(payout), await reasonOf(payout)]).toEqual(['failed', NOT_APPROVED]);
    expect(await fixture.published(payout.id)).toEqual(undone);
    expect(await fixture.statusOf(other)).toBe('awaiting_approval');
  });

  it('is cancelled when its merchant asks for it', async () => {
    const payout = await waiting();
    expect([await fixture.cancel(payout), await reasonOf(payout)]).toEqual(['cancelled', 'cancelled']);
    expect(await say(payout, 'approved')).toEqual({ ok: false, refusal: 'ended' });
  });

  it('does not end while signing is paused or its asset is halted, because it may be paid already', async () => {
    await fixture.expectPaid(await fixture.send());
    const payout = await waiting();
    await say(payout, 'rejected');
    await halt(fixture.db, 'ETH');
    await fixture.run();
    await resume(fixture.db, 'ETH');
    fixture.chain.useNonce(HOT);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('awaiting_approval');
    await fixture.db.rows('update wallets set next_nonce = next_nonce + 1 where address = $1', [HOT]);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('failed');
  });

  it('is stalled only when it is approved and not paid after its usual time', async () => {
    const payout = await waiting();
    const age = (column: string) =>
      fixture.db.rows(`update payouts set ${column} = now() - interval '3 days' where id = $1`, [payout.id]);
    await age('created_at');
    expect(await stalledPayouts(fixture.db)).toEqual(new Map());
    await say(payout, 'approved');
    expect(await stalledPayouts(fixture.db)).toEqual(new Map());
    await age('approved_at');
    expect((await stalledPayouts(fixture.db)).get('ethereum')).toMatchObject({ payouts: 1 });
  });

  it('is not seen by the statements with which a former release signs and fails payouts', async () => {
    const payout = await waiting();
    const former = await fixture.db.rows(
      `update payouts set status = 'signed' where id = $1 and status = any('{reserved}') returning id`,
      [payout.id],
    );
    expect(former).toEqual([]);
  });
});
