import { describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { HOT } from '@quittance/testkit/scripted-evm-sender';
import { watchEnded } from '../src/operations/watch-ended.ts';
import { CONFIRMATIONS, ETHER, engineSuite } from './engine-fixture.ts';

/** Payouts whose blocks are dropped, before and after they were final. */
const fixture = engineSuite(10n);

describe('a reorganisation', () => {
  it.each(['gone', 'pending'] as const)(
    'that drops a payout (%s) makes the worker send the same bytes again',
    async (held) => {
      const { id } = await fixture.send();
      fixture.chain.mine(CONFIRMATIONS - 1);
      await fixture.run();
      fixture.chain.reorg(CONFIRMATIONS - 1, held);
      await fixture.run();
      expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
      expect(await fixture.transactions()).toMatchObject([{ block_hash: null }]);
      await fixture.expectPaid({ id });
    },
  );

  it('deeper than the confirmations makes the worker send the same bytes again and log an error', async () => {
    const { id, to } = await fixture.send();
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    fixture.chain.reorg(CONFIRMATIONS);
    expect(fixture.chain.paymentsTo(to)).toEqual([]);
    await watchEnded(fixture.ports, 0);
    fixture.expectLogged({ level: 'error', msg: expect.stringMatching('left the chain') });
    fixture.chain.mine();
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
  });
});

describe('a reorganisation of blocks that were final', () => {
  /** Pays a payout until its block is final. @returns how many blocks must be dropped to drop it. */
  async function paidForGood(): Promise<{ id: PayoutId; to: string; depth: number }> {
    const { id, to } = await fixture.send();
    const before = fixture.chain.blocks.length;
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    fixture.chain.mine(fixture.chain.finalizedLag);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject([{ state: 'mined', final_at: expect.any(Date) }]);
    return { id, to, depth: fixture.chain.blocks.length - before };
  }
  const gaps = () => fixture.lines.filter(({ msg }) => msg.startsWith('nonces of a wallet are missing'));

  it('sends a payout again at once, and the payouts after it are paid', async () => {
    const { id, to, depth } = await paidForGood();
    const [first] = await fixture.transactions();
    fixture.chain.reorg(depth);
    expect(fixture.chain.paymentsTo(to)).toEqual([]);
    const later = await fixture.send();
    expect(gaps()).toMatchObject([
      { level: 'error', wallet: HOT, missing_nonces: [0], transactions: [first?.['tx_hash']] },
    ]);
    expect(await fixture.transactions()).toMatchObject([
      { nonce: '0', missing_since: expect.any(Date), final_at: null, broadcasts: 2 },
      { nonce: '1', missing_since: null, payout_id: later.id },
    ]);
    await fixture.finish();
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    expect(await fixture.statusesOf({ id }, later)).toEqual(['mined', 'mined']);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject([
      { nonce: '0', missing_since: null, raw: first?.['raw'] },
      { nonce: '1', missing_since: null, payout_id: later.id },
    ]);
    expect(gaps()).toHaveLength(1);
  });

  it('sends a payout again although later payouts of its wallet wait already', async () => {
    const { to, depth } = await paidForGood();
    const later = await fixture.send();
    fixture.chain.reorg(depth);
    await fixture.finish();
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    expect(await fixture.payout(later.id)).toMatchObject({ status: 'mined' });
  });

  it('does not pay another payout with the money of a dropped one', async () => {
    const { to, depth } = await paidForGood();
    const large = await fixture.reserve({ amount: (19n * ETHER) / 2n });
    fixture.chain.reorg(depth);
    await fixture.finish();
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    expect(await fixture.payout(large.id)).toMatchObject({ status: 'reserved' });
    await watchEnded(fixture.ports, 0);
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.expectPaid(large);
  });

  it('sends every transaction again that was dropped, also of wallets that sign nothing more', async () => {
    const { to, depth } = await paidForGood();
    await fixture.deposit(1, 'ETH', 20n * ETHER);
    const large = await fixture.send({ amount: 20n * ETHER });
    const before = fixture.chain.blocks.length;
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.expectPaid(large);
    fixture.chain.mine(fixture.chain.finalizedLag);
    await watchEnded(fixture.ports, 0);
    fixture.chain.reorg(fixture.chain.blocks.length - before + depth);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject(
      Array.from({ length: 3 }, () => ({ missing_since: expect.any(Date) })),
    );
    fixture.chain.mine(1);
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    expect(fixture.chain.paymentsTo(large.to)).toHaveLength(1);
  });

  it('is not assumed when a node lags, and nothing new is signed until it has caught up', async () => {
    await paidForGood();
    const unread = fixture.chain.blocks.splice(1);
    const later = await fixture.reserve();
    for (let round = 0; round < 3; round++) {
      await watchEnded(fixture.ports, 0);
      await fixture.run();
    }
    const asBefore = { nonce: '0', missing_since: null, final_at: expect.any(Date), broadcasts: 1 };
    expect(await fixture.transactions()).toMatchObject([asBefore]);
    // The node catches up between two calls of one round.
    const { sender } = fixture.chain;
    fixture.ports.sender = {
      ...sender,
      finalizedHeight: () => {
        fixture.chain.blocks.push(...unread.splice(0));
        return sender.finalizedHeight();
      },
    };
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([asBefore, { nonce: '1', payout_id: later.id }]);
    expect(gaps()).toEqual([]);
    await fixture.expectPaid(later);
  });

  it('is not assumed when a node has pruned receipts', async () => {
    await paidForGood();
    fixture.chain.hasNoReceipts = true;
    await watchEnded(fixture.ports, 0);
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([{ missing_since: null, final_at: expect.any(Date) }]);
    expect(fixture.chain.arrived).toHaveLength(1);
  });
});
