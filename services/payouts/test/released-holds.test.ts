import { describe, expect, it } from '@jest/globals';
import { HOT } from '@quittance/testkit/scripted-evm-sender';
import { CONFIRMATIONS, engineSuite } from './engine-fixture.ts';

/** When the hold of a payout is released, and when it is not. */
const fixture = engineSuite(10n);

describe('the hold of a failed payout', () => {
  /** A payout whose bytes are lost, and whose nonce another party uses. */
  async function overtaken() {
    const payout = await fixture.reserve();
    fixture.chain.fates.push('lose_bytes');
    await fixture.run();
    fixture.chain.useNonce(HOT);
    return payout;
  }

  it('is not released for a reverted payment that a deeper reorganisation lets succeed', async () => {
    const { id, to } = await fixture.reserve();
    fixture.chain.refusing.add(to);
    fixture.chain.unforeseen.add(to);
    await fixture.run();
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    fixture.chain.refusing.clear();
    fixture.chain.reorg(CONFIRMATIONS, 'pending');
    await fixture.expectPaid({ id });
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('is released only when two observations prove that the transaction can never be mined', async () => {
    const { id } = await overtaken();
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    expect(fixture.lines.some((line) => line.msg.startsWith('the nonce'))).toBe(false);

    fixture.chain.mine(fixture.chain.finalizedLag);
    await fixture.run();
    expect(fixture.lines.some((line) => line.msg.startsWith('the nonce'))).toBe(true);
    fixture.clock.advance(29_999);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    fixture.clock.advance(1);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({
      status: 'failed',
      tx_hash: null,
      failed_reason: expect.stringMatching(/\.$/),
    });
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);

    // The wallet continues after the nonce that another party used.
    const next = await fixture.reserve();
    await fixture.expectPaid(next);
  });

  it('is not released when only the receipt is missing and a block includes the transaction', async () => {
    const { id, to } = await fixture.send();
    fixture.chain.hasNoReceipts = true;
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    await fixture.rounds(4, 31_000);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(await fixture.transactions()).toMatchObject([{ block_height: '1' }]);
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    fixture.expectLogged({ level: 'error', msg: expect.stringMatching(/no receipt/) });
    expect(fixture.lines.some((line) => line.msg.startsWith('a block was dropped'))).toBe(false);
    fixture.chain.hasNoReceipts = false;
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('is not released while a block is missing that may include the transaction', async () => {
    const { id } = await overtaken();
    fixture.chain.missingBlocks.add(1);
    fixture.chain.mine(fixture.chain.finalizedLag + 3);
    await fixture.rounds(4, 31_000);
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    fixture.expectLogged({ level: 'warn', msg: expect.stringMatching(/could not be searched/) });
    fixture.chain.missingBlocks.clear();
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'failed' });
  });

  it('is not released when no transaction with the nonce is found, and an error is logged', async () => {
    const { id } = await overtaken();
    fixture.chain.mine(fixture.chain.finalizedLag);
    const blind = fixture.replicaWith({ findByNonce: async () => undefined });
    await fixture.freeLease();
    await fixture.rounds(5, 61_000, blind);
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    const untold = fixture.lines.filter(({ msg }) => /cannot be told/.test(msg));
    expect(untold.slice(0, 2)).toMatchObject([{ level: 'error' }, { level: 'error' }]);
  });

  it('is released after a search that continues over several rounds', async () => {
    const { id } = await fixture.reserve();
    fixture.chain.fates.push(...Array.from({ length: 9 }, () => 'lose_bytes' as const));
    await fixture.run();
    fixture.chain.mine(700);
    fixture.chain.useNonce(HOT);
    fixture.chain.mine(fixture.chain.finalizedLag);
    await fixture.run();
    fixture.clock.advance(31_000);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    expect(fixture.chain.searched).toBeLessThan(500);
    for (let i = 0; i < 4; i++) await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'failed' });
    expect(fixture.chain.searched).toBe(701);
  });

  it('is not released for a transaction that no node knew for long and that was then mined', async () => {
    const { id } = await fixture.reserve();
    // Once at first; then, every hour, it and an attempt with a higher fee.
    for (let i = 0; i < 7; i++) fixture.chain.fates.push('lose_bytes');
    await fixture.run();
    for (let hour = 0; hour < 3; hour++) {
      fixture.clock.advance(3_600_000);
      fixture.chain.mine(10);
      await fixture.run();
      expect(await fixture.payout(id)).toMatchObject({ status: expect.stringMatching(/signed|broadcast/) });
    }
    fixture.clock.advance(3_600_000);
    await fixture.expectPaid({ id });
  });
});
