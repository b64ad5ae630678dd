import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WrongNetwork } from '@quittance/chains/chain';
import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import type { Chain } from '@quittance/shared/assets';
import type { PayoutId } from '@quittance/shared/ids';
import { LeaseLost, takeLease } from '@quittance/shared/lease';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { evmDriver } from '../src/operations/account-chain/evm-driver.ts';
import { signPayout } from '../src/operations/account-chain/pay-reserved.ts';
import { keepLease } from '../src/operations/keep-lease.ts';
import { recordDeposits, reverseDeposits } from '../src/operations/record-deposits.ts';
import { chainLease } from '../src/operations/run-chain-worker.ts';
import { watchEnded } from '../src/operations/watch-ended.ts';
import { watchStalled } from '../src/operations/watch-stalled.ts';
import { findPayout, type Stalled } from '../src/store/payouts.ts';
import { chainWorkerStep } from '../src/workers.ts';
import { CONFIRMATIONS, EngineWorld, ETHER } from './engine-world.ts';
import { depositAddress, HOT, MAX_FEE } from './scripted-chain.ts';

let database: TestDatabase;
let world: EngineWorld;

beforeAll(async () => {
  database = await testDatabase();
});
beforeEach(async () => {
  world = await EngineWorld.fresh(database);
});
afterEach(async () => {
  await world.expectSound();
  await world.close();
});
afterAll(() => database.drop());

describe('a payout', () => {
  it('is signed, stored, sent, and mined when it is deep enough', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve({ amount: 2n * ETHER });
    expect(await world.run()).toBe(1);
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast', completed_at: null });
    expect(await world.transactions()).toMatchObject([{ nonce: '0', state: 'broadcast', payout_id: id }]);

    world.chain.mine(CONFIRMATIONS - 1);
    expect(await world.run()).toBe(0);
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    world.chain.mine();
    expect(await world.run()).toBe(1);
    const mined = await world.payout(id);
    expect(mined).toMatchObject({ status: 'mined', completed_at: expect.any(Date), failed_reason: null });
    expect(mined['tx_hash']).toBe((await world.transactions())[0]?.['tx_hash']);
    expect(world.chain.paymentsTo(to)).toEqual([{ asset: 'ETH', amount: 2n * ETHER }]);
    expect(await world.announced(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('comes after those that were asked for before it', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const first = await world.reserve();
    const second = await world.reserve();
    await world.run();
    expect(await world.transactions()).toMatchObject([
      { nonce: '0', payout_id: first.id },
      { nonce: '1', payout_id: second.id },
    ]);
  });

  it('waits while the hot wallet has too little, and says so once a minute', async () => {
    world.chain.fund('ETH', HOT, ETHER);
    const { id } = await world.reserve({ amount: ETHER });
    for (let i = 0; i < 5; i++) expect(await world.run()).toBe(0);
    expect(await world.payout(id)).toMatchObject({ status: 'reserved' });
    const complaints = () => world.lines.filter((line) => line.msg.startsWith('payouts wait'));
    expect(complaints()).toMatchObject([
      { level: 'error', address: HOT, asset: 'ETH', has: '1', needs: '1.00000000000021', payouts: 1 },
    ]);
    world.clock.advance(60_000);
    await world.run();
    expect(complaints()).toHaveLength(2);

    world.chain.fund('ETH', HOT, ETHER);
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('of tokens waits for Ether to pay its fee', async () => {
    world.chain.fund('USDC_ERC20', HOT, 5_000_000n);
    const { id } = await world.reserve({ asset: 'USDC_ERC20', amount: 5_000_000n });
    await world.run();
    expect(world.lines).toContainEqual(expect.objectContaining({ asset: 'ETH', has: '0' }));
    world.chain.fund('ETH', HOT, ETHER);
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('does not promise the same money twice while nothing is mined', async () => {
    world.chain.fund('ETH', HOT, 3n * ETHER);
    for (let i = 0; i < 4; i++) await world.reserve({ amount: ETHER });
    await world.run();
    await world.run();
    expect(await world.transactions()).toHaveLength(2);
  });

  it('fails when its recipient would refuse it: nothing was signed, everything goes back', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    const other = await world.reserve();
    world.chain.refusing.add(to);
    await world.finish();
    expect(await world.payout(id)).toMatchObject({
      status: 'failed',
      tx_hash: null,
      failed_reason: expect.stringMatching(/^The recipient .*\.$/),
    });
    expect(await world.announced(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    expect(await world.payout(other.id)).toMatchObject({ status: 'mined' });
  });

  it('fails when it is mined but reverted: the amount goes back, the fee does not', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    world.chain.refusing.add(to);
    world.chain.unforeseen.add(to);
    await world.run();
    world.chain.mine(CONFIRMATIONS - 1);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    world.chain.mine();
    await world.run();
    // Deep enough for a payment, but not for giving money back.
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    world.chain.mine(world.chain.finalizedLag);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'failed', tx_hash: expect.any(String) });
    expect(await world.transactions()).toMatchObject([{ state: 'reverted' }]);
    expect(await world.announced(id)).toEqual(['payout.created', 'hold.release, fee kept', 'payout.failed']);
  });

  it('that cannot be estimated waits, and does not hold up the others', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const odd = await world.reserve();
    const other = await world.reserve();
    const { sender } = world.chain;
    const estimateTransfer: typeof sender.estimateTransfer = async (asset, to, amount) => {
      if (to === odd.to) throw new Error('the node stumbles over this one');
      return sender.estimateTransfer(asset, to, amount);
    };
    await world.run(world.replica({ sender: { ...sender, estimateTransfer } }));
    expect(await world.payout(odd.id)).toMatchObject({ status: 'reserved' });
    expect(await world.payout(other.id)).toMatchObject({ status: 'broadcast' });
    await world.admin.rows('delete from leases');
    await world.finish();
    expect(await world.payout(odd.id)).toMatchObject({ status: 'mined' });
  });
});

it('a payout that is no longer waiting is not signed again, and no nonce is taken for it', async () => {
  world.chain.fund('ETH', HOT, 10n * ETHER);
  const { id } = await world.reserve();
  const payout = await findPayout(world.db, id);
  if (payout === undefined) throw new Error('it was just reserved');
  await world.run();
  const lease = await takeLease(world.db, chainLease(world.ports), world.ports.settings.replica, 60_000);
  if (lease === undefined) throw new Error('nobody else has it');
  const transfer = await (await evmDriver(world.ports, lease).terms()).tryTransfer(payout);
  if (transfer === 'refused') throw new Error('the recipient takes it');
  expect(await signPayout(world.ports, lease, payout, await transfer.draft())).toBeUndefined();
  expect(await world.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '1' });
});

describe('a broadcast', () => {
  it.each(['lose_answer', 'lose_bytes', 'reject'] as const)(
    'that goes wrong (%s) is unknown: the same bytes again until they are mined, one payment',
    async (fate) => {
      world.chain.fund('ETH', HOT, 10n * ETHER);
      const { id, to } = await world.reserve();
      world.chain.fates.push(fate, fate);
      await world.run();
      expect(await world.payout(id)).toMatchObject({ status: 'signed', tx_hash: null });
      const [signed] = await world.transactions();
      await world.run();
      world.clock.advance(5_000);
      await world.run();
      world.clock.advance(5_000);
      await world.finish();
      expect(await world.payout(id)).toMatchObject({ status: 'mined' });
      expect(world.chain.paymentsTo(to)).toHaveLength(1);
      expect(await world.transactions()).toMatchObject([{ raw: signed?.['raw'], nonce: '0' }]);
      expect(new Set(world.chain.arrived)).toEqual(new Set([signed?.['raw']]));
    },
  );

  it('is repeated only after a while, and until it is in a block', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.reserve();
    await world.run();
    await world.run();
    expect(world.chain.arrived).toHaveLength(1);
    world.clock.advance(5_000);
    await world.run();
    expect(world.chain.arrived).toHaveLength(2);
    world.chain.mine();
    world.clock.advance(60_000);
    await world.run();
    expect(world.chain.arrived).toHaveLength(2);
    await world.finish();
  });

  it('that the node forgot, with its whole pool, is repeated', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const payouts = [await world.reserve(), await world.reserve()];
    await world.run();
    world.chain.forgetPool();
    world.chain.mine();
    world.clock.advance(5_000);
    await world.finish();
    for (const { id } of payouts) expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(await world.transactions()).toHaveLength(2);
  });

  it('that never happened, because the process died after signing, is made with the stored bytes', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    const { sender } = world.chain;
    const dies = { ...sender, broadcast: () => Promise.reject(new Error('killed')) };
    await expect(world.run(world.replica({ sender: dies }))).rejects.toThrow('killed');
    expect(await world.payout(id)).toMatchObject({ status: 'signed' });
    await world.admin.rows('delete from leases');
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(await world.transactions()).toHaveLength(1);
  });
});

describe('a reorganisation', () => {
  it.each(['gone', 'pending'] as const)(
    'that takes a payout’s block away (%s) takes its confirmations: the same bytes go out again',
    async (held) => {
      world.chain.fund('ETH', HOT, 10n * ETHER);
      const { id, to } = await world.reserve();
      await world.run();
      world.chain.mine(CONFIRMATIONS - 1);
      await world.run();
      world.chain.reorg(CONFIRMATIONS - 1, held);
      await world.run();
      expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
      expect(await world.transactions()).toMatchObject([{ block_hash: null }]);
      await world.finish();
      expect(await world.payout(id)).toMatchObject({ status: 'mined' });
      expect(world.chain.paymentsTo(to)).toHaveLength(1);
    },
  );

  it('deeper than the confirmations brings the same bytes again, and an operator hears of it', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    await world.run();
    world.chain.mine(CONFIRMATIONS);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    world.chain.reorg(CONFIRMATIONS);
    expect(world.chain.paymentsTo(to)).toEqual([]);
    await watchEnded(world.ports, 0);
    expect(world.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: expect.stringMatching('left the chain') }),
    );
    world.chain.mine();
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
  });

  it('is not looked for any more when the block is final', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.reserve();
    await world.finish();
    await watchEnded(world.ports, 0);
    world.chain.mine(world.chain.finalizedLag);
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject([{ state: 'mined', final_at: expect.any(Date) }]);
  });
});

describe('a reorganisation of blocks that were final', () => {
  /** Pays one payout and lets its block be final; returns how many blocks have to be dropped to take it away. */
  async function paidForGood(): Promise<{ id: PayoutId; to: string; depth: number }> {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    await world.run();
    const before = world.chain.blocks.length;
    world.chain.mine(CONFIRMATIONS);
    await world.run();
    world.chain.mine(world.chain.finalizedLag);
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject([{ state: 'mined', final_at: expect.any(Date) }]);
    return { id, to, depth: world.chain.blocks.length - before };
  }
  const gaps = () => world.lines.filter(({ msg }) => msg.startsWith('nonces of a wallet are missing'));

  it('sends a payout again at once, and the payouts after it are paid', async () => {
    const { id, to, depth } = await paidForGood();
    const [first] = await world.transactions();
    world.chain.reorg(depth);
    expect(world.chain.paymentsTo(to)).toEqual([]);
    const later = await world.reserve();
    await world.run();
    expect(gaps()).toMatchObject([
      { level: 'error', wallet: HOT, missing_nonces: [0], transactions: [first?.['tx_hash']] },
    ]);
    expect(await world.transactions()).toMatchObject([
      { nonce: '0', missing_since: expect.any(Date), final_at: null, broadcasts: 2 },
      { nonce: '1', missing_since: null, payout_id: later.id },
    ]);
    await world.finish();
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(await world.payout(later.id)).toMatchObject({ status: 'mined' });
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject([
      { nonce: '0', missing_since: null, raw: first?.['raw'] },
      { nonce: '1', missing_since: null, payout_id: later.id },
    ]);
    expect(gaps()).toHaveLength(1);
  });

  it('sends a payout again although other payouts of its wallet wait behind it already', async () => {
    const { to, depth } = await paidForGood();
    const later = await world.reserve();
    await world.run();
    world.chain.reorg(depth);
    await world.finish();
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(await world.payout(later.id)).toMatchObject({ status: 'mined' });
  });

  it('does not promise the money of a dropped payout to another one', async () => {
    const { to, depth } = await paidForGood();
    const large = await world.reserve({ amount: (19n * ETHER) / 2n });
    world.chain.reorg(depth);
    await world.finish();
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(await world.payout(large.id)).toMatchObject({ status: 'reserved' });
    await watchEnded(world.ports, 0);
    world.chain.fund('ETH', HOT, ETHER);
    await world.finish();
    expect(await world.payout(large.id)).toMatchObject({ status: 'mined' });
  });

  it('sends every transaction again that was dropped, also of wallets that sign nothing more', async () => {
    const { to, depth } = await paidForGood();
    await world.deposit(1, 'ETH', 20n * ETHER);
    const large = await world.reserve({ amount: 20n * ETHER });
    await world.run();
    const before = world.chain.blocks.length;
    world.chain.mine(CONFIRMATIONS);
    await world.finish();
    expect(await world.payout(large.id)).toMatchObject({ status: 'mined' });
    world.chain.mine(world.chain.finalizedLag);
    await watchEnded(world.ports, 0);
    world.chain.reorg(world.chain.blocks.length - before + depth);
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject(
      Array.from({ length: 3 }, () => ({ missing_since: expect.any(Date) })),
    );
    world.chain.mine(1);
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(world.chain.paymentsTo(large.to)).toHaveLength(1);
  });

  it('is not seen where a node is merely behind, and nothing new is signed before it has caught up', async () => {
    await paidForGood();
    const unread = world.chain.blocks.splice(1);
    const later = await world.reserve();
    for (let round = 0; round < 3; round++) {
      await watchEnded(world.ports, 0);
      await world.run();
    }
    const asBefore = { nonce: '0', missing_since: null, final_at: expect.any(Date), broadcasts: 1 };
    expect(await world.transactions()).toMatchObject([asBefore]);
    // It catches up between two questions of one round.
    const { sender } = world.chain;
    world.ports.sender = {
      ...sender,
      finalizedHeight: () => {
        world.chain.blocks.push(...unread.splice(0));
        return sender.finalizedHeight();
      },
    };
    await world.run();
    expect(await world.transactions()).toMatchObject([asBefore, { nonce: '1', payout_id: later.id }]);
    expect(gaps()).toEqual([]);
    await world.finish();
    expect(await world.payout(later.id)).toMatchObject({ status: 'mined' });
  });

  it('is not seen where a node has only pruned the receipts', async () => {
    await paidForGood();
    world.chain.hasNoReceipts = true;
    await watchEnded(world.ports, 0);
    await world.run();
    expect(await world.transactions()).toMatchObject([{ missing_since: null, final_at: expect.any(Date) }]);
    expect(world.chain.arrived).toHaveLength(1);
  });
});

it('a payout that makes no progress is logged once when that begins and once when it ends', async () => {
  const known = new Map<Chain, Stalled>();
  const { id } = await world.reserve();
  await watchStalled(world.ports, known);
  const said = () => world.lines.filter(({ msg }) => msg.startsWith('payouts make'));
  expect(said()).toEqual([]);
  await world.admin.rows(`update payouts set created_at = now() - interval '31 minutes' where id = $1`, [id]);
  for (let i = 0; i < 3; i++) await watchStalled(world.ports, known);
  expect(said()).toMatchObject([
    { level: 'error', chain: 'ethereum', payouts: 1, msg: expect.stringContaining('no progress') },
  ]);
  world.chain.fund('ETH', HOT, 10n * ETHER);
  await world.finish();
  for (let i = 0; i < 3; i++) await watchStalled(world.ports, known);
  expect(said()).toMatchObject([{}, { level: 'info', msg: 'payouts make progress again' }]);
  expect(known.size).toBe(0);
});

describe('money is given back', () => {
  it('not for a reverted payment that a deeper reorganisation lets succeed', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    world.chain.refusing.add(to);
    world.chain.unforeseen.add(to);
    await world.run();
    world.chain.mine(CONFIRMATIONS);
    await world.run();
    world.chain.refusing.clear();
    world.chain.reorg(CONFIRMATIONS, 'pending');
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(await world.announced(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('only when it is proved, twice, that the transaction can never be mined', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    world.chain.fates.push('lose_bytes');
    await world.run();
    world.chain.useNonce(HOT);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'signed' });
    expect(world.lines.some((line) => line.msg.startsWith('the nonce'))).toBe(false);

    world.chain.mine(world.chain.finalizedLag);
    await world.run();
    expect(world.lines.some((line) => line.msg.startsWith('the nonce'))).toBe(true);
    world.clock.advance(29_999);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'signed' });
    world.clock.advance(1);
    await world.run();
    expect(await world.payout(id)).toMatchObject({
      status: 'failed',
      tx_hash: null,
      failed_reason: expect.stringMatching(/\.$/),
    });
    expect(await world.announced(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);

    // The wallet goes on behind the nonce that somebody else used.
    const next = await world.reserve();
    await world.finish();
    expect(await world.payout(next.id)).toMatchObject({ status: 'mined' });
  });

  it('not while the node merely has no receipt: the blocks themselves are searched, and it is found there', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    await world.run();
    world.chain.hasNoReceipts = true;
    world.chain.mine(CONFIRMATIONS + world.chain.finalizedLag);
    for (let i = 0; i < 4; i++) {
      await world.run();
      world.clock.advance(31_000);
    }
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(await world.transactions()).toMatchObject([{ block_height: '1' }]);
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(world.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: expect.stringMatching(/no receipt/) }),
    );
    expect(world.lines.some((line) => line.msg.startsWith('a block was dropped'))).toBe(false);
    world.chain.hasNoReceipts = false;
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('not while a block is missing that may hold it', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    world.chain.fates.push('lose_bytes');
    await world.run();
    world.chain.useNonce(HOT);
    world.chain.missingBlocks.add(1);
    world.chain.mine(world.chain.finalizedLag + 3);
    for (let i = 0; i < 4; i++) {
      await world.run();
      world.clock.advance(31_000);
    }
    expect(await world.payout(id)).toMatchObject({ status: 'signed' });
    expect(world.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: expect.stringMatching(/could not be searched/) }),
    );
    world.chain.missingBlocks.clear();
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'failed' });
  });

  it('not when nothing with its nonce is found: that is said, and never ends', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    world.chain.fates.push('lose_bytes');
    await world.run();
    world.chain.useNonce(HOT);
    world.chain.mine(world.chain.finalizedLag);
    const { sender } = world.chain;
    const blind = world.replica({ sender: { ...sender, findByNonce: async () => undefined } });
    await world.admin.rows('delete from leases');
    for (let i = 0; i < 5; i++) {
      await world.run(blind);
      world.clock.advance(61_000);
    }
    expect(await world.payout(id)).toMatchObject({ status: 'signed' });
    expect(
      world.lines.filter(({ level, msg }) => level === 'error' && /cannot be told/.test(msg)).length,
    ).toBeGreaterThan(1);
  });

  it('after a search that goes on where it stopped, however long it is', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    world.chain.fates.push(...Array.from({ length: 9 }, () => 'lose_bytes' as const));
    await world.run();
    world.chain.mine(700);
    world.chain.useNonce(HOT);
    world.chain.mine(world.chain.finalizedLag);
    await world.run();
    world.clock.advance(31_000);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'signed' });
    expect(world.chain.searched).toBeLessThan(500);
    for (let i = 0; i < 4; i++) await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'failed' });
    expect(world.chain.searched).toBe(701);
  });

  it('not for a transaction that was long out of sight and then mined', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    // Once at first; then, every hour, it and a successor with a higher fee.
    for (let i = 0; i < 7; i++) world.chain.fates.push('lose_bytes');
    await world.run();
    for (let hour = 0; hour < 3; hour++) {
      world.clock.advance(3_600_000);
      world.chain.mine(10);
      await world.run();
      expect(await world.payout(id)).toMatchObject({ status: expect.stringMatching(/signed|broadcast/) });
    }
    world.clock.advance(3_600_000);
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
  });
});

describe('a sweep', () => {
  it('of Ether brings what a payout lacks, and the payout waits until it is deep enough', async () => {
    world.chain.fund('ETH', HOT, ETHER);
    await world.deposit(1, 'ETH', 3n * ETHER);
    await world.deposit(2, 'ETH', 2n * ETHER);
    const { id } = await world.reserve({ amount: 2n * ETHER });
    expect(await world.run()).toBe(1);
    expect(await world.transactions()).toMatchObject([
      { purpose: 'sweep', wallet: depositAddress(2), nonce: '0', asset: 'ETH' },
    ]);
    world.chain.mine(CONFIRMATIONS - 1);
    await world.run();
    expect(await world.transactions()).toHaveLength(1);
    world.chain.mine();
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(await world.db.rows('select state from holdings order by derivation_index')).toEqual([
      { state: 'held' },
      { state: 'swept' },
    ]);
  });

  it.each(['ETH', 'USDC_ERC20'] as const)(
    'of %s that is mined between the look at it and at the balance is not spent yet',
    async (asset) => {
      const amount = asset === 'ETH' ? 3n * ETHER : 3_000_000n;
      world.chain.fund('ETH', HOT, ETHER);
      await world.deposit(1, asset, amount);
      await world.reserve({ asset, amount: amount - amount / 10n });
      await world.run();
      expect(await world.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
      const { sender } = world.chain;
      let isMined = false;
      const balance: typeof sender.balance = async (...given) => {
        if (!isMined) world.chain.mine();
        isMined = true;
        return sender.balance(...given);
      };
      await world.admin.rows('delete from leases');
      await world.run(world.replica({ sender: { ...sender, balance } }));
      expect(isMined).toBe(true);
      expect(await world.transactions()).toHaveLength(1);
      await world.admin.rows('delete from leases');
      await world.finish();
      expect(await world.transactions()).toMatchObject([
        { state: 'mined' },
        { purpose: 'payout', state: 'mined' },
      ]);
    },
  );

  it('of tokens is sent and paid for by the hot wallet', async () => {
    world.chain.fund('ETH', HOT, ETHER);
    await world.deposit(1, 'USDC_ERC20', 7_000_000n);
    await world.deposit(1, 'USDC_ERC20', 5_000_000n);
    const { id } = await world.reserve({ asset: 'USDC_ERC20', amount: 10_000_000n });
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(await world.transactions()).toMatchObject([
      { purpose: 'sweep', wallet: HOT, nonce: '0', amount: '12000000', swept_address: depositAddress(1) },
      { purpose: 'payout', wallet: HOT, nonce: '1' },
    ]);
    expect(world.chain.balance('USDC_ERC20', HOT)).toBe(2_000_000n);
  });

  it('happens only for what is needed', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.deposit(1, 'ETH', 3n * ETHER);
    await world.reserve();
    await world.finish();
    expect((await world.transactions()).map((one) => one['purpose'])).toEqual(['payout']);
  });

  it('is made again when the token refused it, but not at once', async () => {
    world.chain.fund('ETH', HOT, ETHER);
    await world.deposit(1, 'USDC_ERC20', 7_000_000n);
    const { id } = await world.reserve({ asset: 'USDC_ERC20', amount: 7_000_000n });
    world.chain.refusing.add(HOT);
    await world.run();
    world.chain.mine(CONFIRMATIONS + world.chain.finalizedLag);
    await world.run();
    await world.run();
    expect(await world.transactions()).toMatchObject([{ purpose: 'sweep', state: 'reverted' }]);
    expect(await world.db.one('select state, sweep_id from holdings')).toEqual({
      state: 'held',
      sweep_id: null,
    });
    world.chain.refusing.clear();
    await world.db.rows(`update holdings set retry_at = now() - interval '1 second'`);
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('of an address whose key is not ours is not tried, and said', async () => {
    await world.deposit(1, 'ETH', 5n * ETHER, `0x${'99'.repeat(20)}`);
    await world.reserve();
    await world.run();
    expect(await world.transactions()).toEqual([]);
    expect(world.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: expect.stringMatching('does not derive from WALLET_SEED'),
      }),
    );
  });

  it('of money that is not there is not tried, and said', async () => {
    const payload = world.depositPayload(4, 'ETH', 5n * ETHER);
    await world.deposit(4, 'ETH', ETHER);
    await world.db.rows(`update holdings set amount = $1`, [payload.amount]);
    await world.reserve();
    await world.run();
    expect(await world.transactions()).toEqual([]);
    expect(world.lines).toContainEqual(expect.objectContaining({ level: 'error', has: '1', settled: '5' }));
  });

  it('that cannot be made makes way for another one', async () => {
    await world.deposit(1, 'ETH', 5n * ETHER, `0x${'99'.repeat(20)}`);
    await world.deposit(2, 'ETH', 3n * ETHER);
    const { id } = await world.reserve();
    await world.db.rows(`update holdings set amount = 1.5e18 where derivation_index = 1`);
    await world.finish();
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('of less than it costs is not made', async () => {
    await world.deposit(1, 'ETH', 2n * 21_000n * MAX_FEE);
    await world.reserve({ amount: 1_000n });
    await world.run();
    expect(await world.transactions()).toEqual([]);
  });

  it('is not signed for a deposit that was reversed since it was planned, and no nonce is taken', async () => {
    const deposit = await world.deposit(1, 'USDC_ERC20', 5_000_000n);
    world.chain.fund('ETH', HOT, ETHER);
    await world.reserve({ asset: 'USDC_ERC20', amount: 5_000_000n });
    const { sender } = world.chain;
    const meanwhile: typeof sender.balance = async (asset, address) => {
      if (address === depositAddress(1)) {
        await world.db.transaction((trx) => reverseDeposits(trx, [deposit]));
      }
      return sender.balance(asset, address);
    };
    await world.run(world.replica({ sender: { ...sender, balance: meanwhile } }));
    expect(await world.transactions()).toEqual([]);
    expect(await world.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '0' });
  });

  it('of a deposit that was reversed is not waited for', async () => {
    const deposit = await world.deposit(1, 'ETH', 5n * ETHER);
    await world.deposit(2, 'ETH', 6n * ETHER);
    const { id } = await world.reserve({ amount: 4n * ETHER });
    world.chain.fates.push('lose_bytes');
    await world.run();
    await world.db.transaction((trx) => reverseDeposits(trx, [deposit]));
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect((await world.transactions()).map((one) => one['swept_address'])).toContain(depositAddress(2));
  });
});

describe('a payout that needs more deposits than are looked at together', () => {
  it('gets them in turns, and is paid', async () => {
    world.chain.fund('ETH', HOT, ETHER / 1_000n);
    for (let index = 0; index < 210; index++) await world.deposit(index, 'ETH', ETHER / 10n);
    const { id } = await world.reserve({ amount: (205n * ETHER) / 10n });
    expect(await world.run()).toBe(200);
    world.chain.mine(CONFIRMATIONS);
    await world.finish();
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('of which only some can be paid for now gets those, and waits', async () => {
    const gas = (TOKEN_SWEEP_GAS + 90_000n) * MAX_FEE;
    world.chain.fund('ETH', HOT, gas);
    for (const index of [1, 2]) await world.deposit(index, 'USDC_ERC20', 6_000_000n);
    const { id } = await world.reserve({ asset: 'USDC_ERC20', amount: 10_000_000n });
    expect(await world.run()).toBe(1);
    expect(await world.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
    world.chain.fund('ETH', HOT, ETHER);
    await world.finish();
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });
});

it('many payouts that nothing can cover do not hide the payout behind them', async () => {
  world.chain.fund('ETH', HOT, 2n * ETHER);
  const payouts = [];
  for (let i = 0; i < 60; i++) payouts.push(await world.reserve({ amount: 1_000n * ETHER }));
  const { id } = await world.reserve();
  expect(await world.run()).toBe(1);
  expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
});

describe('deposits', () => {
  it('are stored once, however often the event arrives, and refuse other contents', async () => {
    const payload = await world.deposit(1, 'ETH', ETHER);
    await world.db.transaction((trx) => recordDeposits(trx, [payload]));
    expect(await world.db.rows('select 1 from holdings')).toHaveLength(1);
    const other = { ...payload, amount: '5' };
    await expect(world.db.transaction((trx) => recordDeposits(trx, [other]))).rejects.toThrow(
      'other contents',
    );
  });

  it('are never counted when their reversal arrives first', async () => {
    const payload = world.depositPayload(1, 'ETH', 9n * ETHER);
    await world.db.transaction((trx) => reverseDeposits(trx, [payload]));
    await world.db.transaction((trx) => recordDeposits(trx, [payload]));
    await world.reserve();
    await world.run();
    expect(await world.transactions()).toEqual([]);
    expect(await world.db.one('select reversed_at from holdings')).toEqual({ reversed_at: expect.any(Date) });
  });
});

describe('the node', () => {
  it('that does not answer about one transaction delays no other one', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const [odd, other] = [await world.reserve(), await world.reserve()];
    await world.run();
    const oddHash = (await world.transactions())[0]?.['tx_hash'];
    world.chain.mine(CONFIRMATIONS);
    const { sender } = world.chain;
    const status: typeof sender.status = async (txHash) => {
      if (txHash === oddHash) throw new Error('the node stumbles over this one');
      return sender.status(txHash);
    };
    const third = await world.reserve();
    await world.admin.rows('delete from leases');
    const stumbling = world.replica({ sender: { ...sender, status } });
    await world.run(stumbling);
    expect(await world.payout(odd.id)).toMatchObject({ status: 'broadcast' });
    expect(await world.payout(other.id)).toMatchObject({ status: 'mined' });
    expect(await world.payout(third.id)).toMatchObject({ status: 'broadcast' });
    expect(world.lines).toContainEqual(expect.objectContaining({ level: 'warn', transaction: oddHash }));
    await world.admin.rows('delete from leases');
    await world.finish();
    // Not when it has ended either.
    await world.reserve();
    await world.admin.rows('delete from leases');
    await world.db.rows('update transactions set looked_at = null');
    expect(await world.run(stumbling)).toBe(1);
  });

  it('that does not answer about settled transactions delays nothing else', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.reserve();
    await world.finish();
    const { id } = await world.reserve();
    await world.admin.rows('delete from leases');
    await world.db.rows('update transactions set looked_at = null');
    const { sender } = world.chain;
    const status = () => Promise.reject(new Error('the node stumbles'));
    await world.run(world.replica({ sender: { ...sender, status } }));
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(world.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', reason: expect.stringMatching('stumbles') }),
    );
  });

  it('is down: payouts wait, and go on when it is back', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    world.chain.isDown = true;
    await expect(world.run()).rejects.toThrow('ECONNREFUSED');
    expect(await world.payout(id)).toMatchObject({ status: 'reserved' });
    world.chain.isDown = false;
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('is on another network: nothing is signed, and an error is logged', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.reserve();
    world.chain.wrongNetwork = true;
    for (let i = 0; i < 3; i++) expect(await world.run()).toBe(0);
    expect(world.ports.signingPause.reason).toMatch('chain 1');
    expect(await world.transactions()).toEqual([]);
    expect(world.lines.filter((line) => line.msg === 'nothing is signed')).toHaveLength(1);
    world.chain.wrongNetwork = false;
    expect(await world.run()).toBe(1);
    expect(world.ports.signingPause.reason).toBeUndefined();
  });

  it('knows the hot wallet already: its nonces go on where its history ended, once that is final', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    for (let i = 0; i < 3; i++) world.chain.useNonce(HOT);
    const { id } = await world.reserve();
    expect(await world.run()).toBe(0);
    expect(world.lines.at(-1)?.msg).toMatch('until its earlier transactions are final');
    world.chain.mine(world.chain.finalizedLag);
    await world.finish();
    expect(await world.transactions()).toMatchObject([{ nonce: '3' }]);
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });
});

describe('a chain that knows more of the hot wallet than the database', () => {
  it('pauses signing until an operator decides; signed transactions are followed', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const before = await world.reserve();
    await world.run();
    world.chain.mine();
    world.chain.useNonce(HOT);
    const { id } = await world.reserve();
    world.chain.mine(CONFIRMATIONS + world.chain.finalizedLag);
    for (let i = 0; i < 3; i++) await world.run();
    expect(world.ports.signingPause.reason).toMatch(
      /transactions of this wallet that this database does not know/,
    );
    expect(world.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'nothing is signed',
        reason: world.ports.signingPause.reason,
      }),
    );
    expect(await world.payout(before.id)).toMatchObject({ status: 'mined' });
    expect(await world.payout(id)).toMatchObject({ status: 'reserved' });
    expect(await world.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '1' });

    await world.db.rows('update wallets set next_nonce = 2');
    await world.finish();
    expect(world.ports.signingPause.reason).toBeUndefined();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('pauses signing after the database was restored: paid payouts are not paid again', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await world.reserve();
    await world.run();
    world.chain.mine();
    await world.admin.rows('delete from payments');
    await world.admin.rows('delete from transactions');
    await world.db.rows(`update wallets set next_nonce = 0`);
    await world.db.rows(`update payouts set status = 'reserved', tx_hash = null`);
    world.chain.mine(CONFIRMATIONS + world.chain.finalizedLag);
    await world.run();
    expect(await world.transactions()).toEqual([]);
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    // Found by the operator.
    await world.db.rows(`update payouts set status = 'broadcast' where id = $1`, [id]);
    world.chain.arrived.length = 0;
  });
});

/** One more process, whose questions to its node are counted. */
function counted() {
  let calls = 0;
  const sender = new Proxy(world.chain.sender, {
    get(target, name, receiver) {
      const value = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      calls += 1;
      return value;
    },
  });
  return { ports: world.replica({ sender }), calls: () => calls };
}

describe('the chain worker', () => {
  it('is refused with the seed of another wallet', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.reserve();
    await world.run();
    const stranger = world.replica({ sender: { ...world.chain.sender, hotAddress: `0x${'b1'.repeat(20)}` } });
    expect(await world.run(stranger)).toBe(0);
    expect(stranger.signingPause.reason).toMatch(/WALLET_SEED belongs to/);
    expect(await world.transactions()).toHaveLength(1);
  });

  it('runs in one process at a time', async () => {
    world.chain.fund('ETH', HOT, 100n * ETHER);
    for (let i = 0; i < 5; i++) await world.reserve();
    const others = [world.replica(), world.replica(), world.replica()];
    const done = await Promise.all(others.map((ports) => world.run(ports)));
    expect(done.sort()).toEqual([0, 0, 5]);
    expect(await world.transactions()).toHaveLength(5);
  });

  it('asks a node nothing in a process that does not have the lease', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.run();
    const follower = counted();
    for (let i = 0; i < 10; i++) expect(await world.run(follower.ports)).toBe(0);
    expect(follower.calls()).toBe(0);
  });

  it('gives its lease to another process when its own node is away or on another network', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    const { sender } = world.chain;
    const wrong = world.replica({
      sender: { ...sender, check: () => Promise.reject(new WrongNetwork('the node is on chain 1')) },
    });
    const away = world.replica({
      sender: { ...sender, check: () => Promise.reject(new Error('ECONNREFUSED')) },
    });
    expect(await world.run(wrong)).toBe(0);
    await expect(world.run(away)).rejects.toThrow('ECONNREFUSED');
    expect(await world.run()).toBe(1);
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    // It leads no more, and still finds out when its node is the right one.
    expect(wrong.signingPause.reason).toMatch('chain 1');
    wrong.sender = sender;
    await world.run(wrong);
    expect(wrong.signingPause.reason).toBeUndefined();
  });

  it('asks its node once in fifteen rounds while nothing is open, and at once when a payout comes', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const idle = counted();
    const step = chainWorkerStep<'evm'>(idle.ports, idle.ports);
    await step();
    const perRound = idle.calls();
    expect(perRound).toBeGreaterThan(0);
    for (let second = 0; second < 60; second++) {
      // Also when the time of its machine is set back.
      world.clock.advance(second === 20 ? -3_600_000 : 1_000);
      await step();
    }
    expect(idle.calls()).toBe(5 * perRound);

    const { id } = await world.reserve();
    expect(await step()).toBe(1);
    world.chain.mine(CONFIRMATIONS);
    expect(await step()).toBe(1);
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('keeps its lease through the rounds that ask its node nothing: other replicas ask theirs nothing at all', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const [leader, follower] = [counted(), counted()];
    const leads = chainWorkerStep<'evm'>(leader.ports, leader.ports);
    const follows = chainWorkerStep<'evm'>(follower.ports, follower.ports);
    const left = `select extract(epoch from expires_at - now()) > 30 as long from leases`;
    for (let round = 0; round < 40; round++) {
      await world.db.rows(`update leases set expires_at = now() + interval '10 seconds'`);
      await leads();
      expect(await world.db.one(left)).toEqual({ long: true });
      await follows();
    }
    expect(leader.calls()).toBeGreaterThan(0);
    expect(follower.calls()).toBe(0);
  });

  it('that gave its lease to others, because its node is on another network, does not keep it while it rests', async () => {
    const { sender } = world.chain;
    const wrong = world.replica({
      sender: { ...sender, check: () => Promise.reject(new WrongNetwork('the node is on chain 1')) },
    });
    const step = chainWorkerStep<'evm'>(wrong, wrong);
    for (let round = 0; round < 20; round++) {
      await step();
      expect(await world.db.one('select expires_at <= clock_timestamp() as free from leases')).toEqual({
        free: true,
      });
    }
  });

  it('keeps its lease through a long round, and finds out when it is lost', async () => {
    const { settings } = world.ports;
    const lease = await takeLease(world.db, chainLease(world.ports), settings.replica, 1_000);
    if (lease === undefined) throw new Error('nobody else has it');
    await keepLease(world.ports, lease);
    const left = `select extract(epoch from expires_at - now()) > 30 as long from leases`;
    expect(await world.db.one(left)).toEqual({ long: true });
    await world.db.rows(`update leases set expires_at = now() - interval '1 second'`);
    await takeLease(world.db, chainLease(world.ports), 'another', 1);
    await expect(keepLease(world.ports, lease)).rejects.toThrow(LeaseLost);
    await world.db.rows(`update leases set expires_at = now() - interval '1 second'`);
    // Even when the other one is gone again: something may have been signed in between.
    await expect(keepLease(world.ports, lease)).rejects.toThrow(LeaseLost);
  });

  it('keeps its lease while a slow node thinks about one answer for longer than that', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await world.reserve();
    const { sender } = world.chain;
    const fees = async () => {
      await setTimeout(3_000);
      return sender.fees();
    };
    const short = () => ({ settings: { ...world.ports.settings, replica: randomUUID(), leaseMs: 1_000 } });
    const slow = world.run(world.replica({ ...short(), sender: { ...sender, fees } }));
    await setTimeout(2_000);
    expect(await world.run(world.replica(short()))).toBe(0);
    expect(await slow).toBe(1);
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(await world.transactions()).toMatchObject([{ fence: '1' }]);
  });

  it('that lost its lease in mid-run signs nothing more', async () => {
    world.chain.fund('ETH', HOT, 100n * ETHER);
    const { id } = await world.reserve();
    const { sender } = world.chain;
    // Asleep between looking and signing, for so long that another one took over and paid.
    const asleep = {
      ...sender,
      estimateTransfer: async (...given: Parameters<typeof sender.estimateTransfer>) => {
        await world.db.rows(`update leases set expires_at = now() - interval '1 second'`);
        await world.run();
        return sender.estimateTransfer(...given);
      },
    };
    expect(await world.run(world.replica({ sender: asleep }))).toBe(0);
    expect(world.lines).toContainEqual(
      expect.objectContaining({ msg: 'another replica has taken the lease of the chain worker' }),
    );
    expect(await world.transactions()).toHaveLength(1);
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
  });
});
