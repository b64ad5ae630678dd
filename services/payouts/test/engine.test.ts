import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WrongNetwork } from '@quittance/chains/chain';
import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
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
import { findPayout } from '../src/store/payouts.ts';
import { chainWorkerStep } from '../src/workers.ts';
import { CONFIRMATIONS, EngineFixture, ETHER } from './engine-fixture.ts';
import { depositAddress, HOT, MAX_FEE } from './scripted-chain.ts';

let database: TestDatabase;
let fixture: EngineFixture;

beforeAll(async () => {
  database = await testDatabase();
});
beforeEach(async () => {
  fixture = await EngineFixture.fresh(database);
});
afterEach(async () => {
  await fixture.expectSound();
  await fixture.close();
});
afterAll(() => database.drop());

describe('a payout', () => {
  it('is signed, stored, sent, and mined when it is deep enough', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve({ amount: 2n * ETHER });
    expect(await fixture.run()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast', completed_at: null });
    expect(await fixture.transactions()).toMatchObject([{ nonce: '0', state: 'broadcast', payout_id: id }]);

    fixture.chain.mine(CONFIRMATIONS - 1);
    expect(await fixture.run()).toBe(0);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.chain.mine();
    expect(await fixture.run()).toBe(1);
    const mined = await fixture.payout(id);
    expect(mined).toMatchObject({ status: 'mined', completed_at: expect.any(Date), failed_reason: null });
    expect(mined['tx_hash']).toBe((await fixture.transactions())[0]?.['tx_hash']);
    expect(fixture.chain.paymentsTo(to)).toEqual([{ asset: 'ETH', amount: 2n * ETHER }]);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('is paid after payouts that were requested earlier', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const first = await fixture.reserve();
    const second = await fixture.reserve();
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([
      { nonce: '0', payout_id: first.id },
      { nonce: '1', payout_id: second.id },
    ]);
  });

  it('waits while the hot wallet has too little, and an error is logged once a minute', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    const { id } = await fixture.reserve({ amount: ETHER });
    for (let i = 0; i < 5; i++) expect(await fixture.run()).toBe(0);
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    const complaints = () => fixture.lines.filter((line) => line.msg.startsWith('payouts wait'));
    expect(complaints()).toMatchObject([
      { level: 'error', address: HOT, asset: 'ETH', has: '1', needs: '1.00000000000021', payouts: 1 },
    ]);
    fixture.clock.advance(60_000);
    await fixture.run();
    expect(complaints()).toHaveLength(2);

    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('of tokens waits for Ether to pay its fee', async () => {
    fixture.chain.fund('USDC_ERC20', HOT, 5_000_000n);
    const { id } = await fixture.reserve({ asset: 'USDC_ERC20', amount: 5_000_000n });
    await fixture.run();
    expect(fixture.lines).toContainEqual(expect.objectContaining({ asset: 'ETH', has: '0' }));
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('is not paid with money that an open transaction will take', async () => {
    fixture.chain.fund('ETH', HOT, 3n * ETHER);
    for (let i = 0; i < 4; i++) await fixture.reserve({ amount: ETHER });
    await fixture.run();
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(2);
  });

  it('fails when its recipient would refuse it: nothing was signed, everything goes back', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    const other = await fixture.reserve();
    fixture.chain.refusing.add(to);
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({
      status: 'failed',
      tx_hash: null,
      failed_reason: expect.stringMatching(/^The recipient .*\.$/),
    });
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    expect(await fixture.payout(other.id)).toMatchObject({ status: 'mined' });
  });

  it('fails when it is mined but reverted: the amount goes back, the fee does not', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    fixture.chain.refusing.add(to);
    fixture.chain.unforeseen.add(to);
    await fixture.run();
    fixture.chain.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.chain.mine();
    await fixture.run();
    // Enough confirmations for a payment, but not for a release of the hold.
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.chain.mine(fixture.chain.finalizedLag);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'failed', tx_hash: expect.any(String) });
    expect(await fixture.transactions()).toMatchObject([{ state: 'reverted' }]);
    expect(await fixture.published(id)).toEqual([
      'payout.created',
      'hold.release, fee kept',
      'payout.failed',
    ]);
  });

  it('whose fee cannot be estimated waits, and the others are paid', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const odd = await fixture.reserve();
    const other = await fixture.reserve();
    const { sender } = fixture.chain;
    const estimateTransfer: typeof sender.estimateTransfer = async (asset, to, amount) => {
      if (to === odd.to) throw new Error('the node stumbles over this one');
      return sender.estimateTransfer(asset, to, amount);
    };
    await fixture.run(fixture.replica({ sender: { ...sender, estimateTransfer } }));
    expect(await fixture.payout(odd.id)).toMatchObject({ status: 'reserved' });
    expect(await fixture.payout(other.id)).toMatchObject({ status: 'broadcast' });
    await fixture.admin.rows('delete from leases');
    await fixture.finish();
    expect(await fixture.payout(odd.id)).toMatchObject({ status: 'mined' });
  });
});

it('a payout that is not reserved any more is not signed, and takes no nonce', async () => {
  fixture.chain.fund('ETH', HOT, 10n * ETHER);
  const { id } = await fixture.reserve();
  const payout = await findPayout(fixture.db, id);
  if (payout === undefined) throw new Error('it was just reserved');
  await fixture.run();
  const lease = await takeLease(
    fixture.db,
    chainLease(fixture.ports),
    fixture.ports.settings.replica,
    60_000,
  );
  if (lease === undefined) throw new Error('nobody else has it');
  const transfer = await (await evmDriver(fixture.ports, lease).terms()).tryTransfer(payout);
  if (transfer === 'refused') throw new Error('the recipient takes it');
  expect(await signPayout(fixture.ports, lease, payout, await transfer.draft())).toBeUndefined();
  expect(await fixture.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '1' });
});

describe('a broadcast', () => {
  it.each(['lose_answer', 'lose_bytes', 'reject'] as const)(
    'that fails (%s) is repeated with the same bytes until they are mined, and pays once',
    async (fate) => {
      fixture.chain.fund('ETH', HOT, 10n * ETHER);
      const { id, to } = await fixture.reserve();
      fixture.chain.fates.push(fate, fate);
      await fixture.run();
      expect(await fixture.payout(id)).toMatchObject({ status: 'signed', tx_hash: null });
      const [signed] = await fixture.transactions();
      await fixture.run();
      fixture.clock.advance(5_000);
      await fixture.run();
      fixture.clock.advance(5_000);
      await fixture.finish();
      expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
      expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
      expect(await fixture.transactions()).toMatchObject([{ raw: signed?.['raw'], nonce: '0' }]);
      expect(new Set(fixture.chain.arrived)).toEqual(new Set([signed?.['raw']]));
    },
  );

  it('is repeated after a pause until a block includes the transaction', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.reserve();
    await fixture.run();
    await fixture.run();
    expect(fixture.chain.arrived).toHaveLength(1);
    fixture.clock.advance(5_000);
    await fixture.run();
    expect(fixture.chain.arrived).toHaveLength(2);
    fixture.chain.mine();
    fixture.clock.advance(60_000);
    await fixture.run();
    expect(fixture.chain.arrived).toHaveLength(2);
    await fixture.finish();
  });

  it('is repeated when the node has lost its mempool', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const payouts = [await fixture.reserve(), await fixture.reserve()];
    await fixture.run();
    fixture.chain.forgetPool();
    fixture.chain.mine();
    fixture.clock.advance(5_000);
    await fixture.finish();
    for (const { id } of payouts) expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(await fixture.transactions()).toHaveLength(2);
  });

  it('that a process did not make before it died is made with the stored bytes', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    const dies = { ...sender, broadcast: () => Promise.reject(new Error('killed')) };
    await expect(fixture.run(fixture.replica({ sender: dies }))).rejects.toThrow('killed');
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    await fixture.admin.rows('delete from leases');
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(await fixture.transactions()).toHaveLength(1);
  });
});

describe('a reorganisation', () => {
  it.each(['gone', 'pending'] as const)(
    'that drops a payout (%s) makes the worker send the same bytes again',
    async (held) => {
      fixture.chain.fund('ETH', HOT, 10n * ETHER);
      const { id, to } = await fixture.reserve();
      await fixture.run();
      fixture.chain.mine(CONFIRMATIONS - 1);
      await fixture.run();
      fixture.chain.reorg(CONFIRMATIONS - 1, held);
      await fixture.run();
      expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
      expect(await fixture.transactions()).toMatchObject([{ block_hash: null }]);
      await fixture.finish();
      expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
      expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    },
  );

  it('deeper than the confirmations makes the worker send the same bytes again and log an error', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    await fixture.run();
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    fixture.chain.reorg(CONFIRMATIONS);
    expect(fixture.chain.paymentsTo(to)).toEqual([]);
    await watchEnded(fixture.ports, 0);
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: expect.stringMatching('left the chain') }),
    );
    fixture.chain.mine();
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
  });

  it('is not looked for any more once the block is final', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.reserve();
    await fixture.finish();
    await watchEnded(fixture.ports, 0);
    fixture.chain.mine(fixture.chain.finalizedLag);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject([{ state: 'mined', final_at: expect.any(Date) }]);
  });
});

describe('a reorganisation of blocks that were final', () => {
  /** Pays a payout until its block is final. @returns how many blocks must be dropped to drop it. */
  async function paidForGood(): Promise<{ id: PayoutId; to: string; depth: number }> {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    await fixture.run();
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
    const later = await fixture.reserve();
    await fixture.run();
    expect(gaps()).toMatchObject([
      { level: 'error', wallet: HOT, missing_nonces: [0], transactions: [first?.['tx_hash']] },
    ]);
    expect(await fixture.transactions()).toMatchObject([
      { nonce: '0', missing_since: expect.any(Date), final_at: null, broadcasts: 2 },
      { nonce: '1', missing_since: null, payout_id: later.id },
    ]);
    await fixture.finish();
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(await fixture.payout(later.id)).toMatchObject({ status: 'mined' });
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject([
      { nonce: '0', missing_since: null, raw: first?.['raw'] },
      { nonce: '1', missing_since: null, payout_id: later.id },
    ]);
    expect(gaps()).toHaveLength(1);
  });

  it('sends a payout again although later payouts of its wallet wait already', async () => {
    const { to, depth } = await paidForGood();
    const later = await fixture.reserve();
    await fixture.run();
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
    await fixture.finish();
    expect(await fixture.payout(large.id)).toMatchObject({ status: 'mined' });
  });

  it('sends every transaction again that was dropped, also of wallets that sign nothing more', async () => {
    const { to, depth } = await paidForGood();
    await fixture.deposit(1, 'ETH', 20n * ETHER);
    const large = await fixture.reserve({ amount: 20n * ETHER });
    await fixture.run();
    const before = fixture.chain.blocks.length;
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.finish();
    expect(await fixture.payout(large.id)).toMatchObject({ status: 'mined' });
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
    await fixture.finish();
    expect(await fixture.payout(later.id)).toMatchObject({ status: 'mined' });
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

it('a payout that makes no progress is logged once when that begins and once when it ends', async () => {
  const { id } = await fixture.reserve();
  await watchStalled(fixture.ports);
  const said = () => fixture.lines.filter(({ msg }) => msg.startsWith('payouts make'));
  expect(said()).toEqual([]);
  await fixture.admin.rows(`update payouts set created_at = now() - interval '31 minutes' where id = $1`, [
    id,
  ]);
  for (let i = 0; i < 3; i++) await watchStalled(fixture.ports);
  expect(said()).toMatchObject([
    { level: 'error', chain: 'ethereum', payouts: 1, msg: expect.stringContaining('no progress') },
  ]);
  fixture.chain.fund('ETH', HOT, 10n * ETHER);
  await fixture.finish();
  for (let i = 0; i < 3; i++) await watchStalled(fixture.ports);
  expect(said()).toMatchObject([{}, { level: 'info', msg: 'payouts make progress again' }]);
  expect(fixture.ports.stalled.size).toBe(0);
});

describe('the hold of a failed payout', () => {
  it('is not released for a reverted payment that a deeper reorganisation lets succeed', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    fixture.chain.refusing.add(to);
    fixture.chain.unforeseen.add(to);
    await fixture.run();
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    fixture.chain.refusing.clear();
    fixture.chain.reorg(CONFIRMATIONS, 'pending');
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('is released only when two observations prove that the transaction can never be mined', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    fixture.chain.fates.push('lose_bytes');
    await fixture.run();
    fixture.chain.useNonce(HOT);
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
    await fixture.finish();
    expect(await fixture.payout(next.id)).toMatchObject({ status: 'mined' });
  });

  it('is not released when only the receipt is missing and a block includes the transaction', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    await fixture.run();
    fixture.chain.hasNoReceipts = true;
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    for (let i = 0; i < 4; i++) {
      await fixture.run();
      fixture.clock.advance(31_000);
    }
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(await fixture.transactions()).toMatchObject([{ block_height: '1' }]);
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: expect.stringMatching(/no receipt/) }),
    );
    expect(fixture.lines.some((line) => line.msg.startsWith('a block was dropped'))).toBe(false);
    fixture.chain.hasNoReceipts = false;
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('is not released while a block is missing that may include the transaction', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    fixture.chain.fates.push('lose_bytes');
    await fixture.run();
    fixture.chain.useNonce(HOT);
    fixture.chain.missingBlocks.add(1);
    fixture.chain.mine(fixture.chain.finalizedLag + 3);
    for (let i = 0; i < 4; i++) {
      await fixture.run();
      fixture.clock.advance(31_000);
    }
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: expect.stringMatching(/could not be searched/) }),
    );
    fixture.chain.missingBlocks.clear();
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'failed' });
  });

  it('is not released when no transaction with the nonce is found, and an error is logged', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    fixture.chain.fates.push('lose_bytes');
    await fixture.run();
    fixture.chain.useNonce(HOT);
    fixture.chain.mine(fixture.chain.finalizedLag);
    const { sender } = fixture.chain;
    const blind = fixture.replica({ sender: { ...sender, findByNonce: async () => undefined } });
    await fixture.admin.rows('delete from leases');
    for (let i = 0; i < 5; i++) {
      await fixture.run(blind);
      fixture.clock.advance(61_000);
    }
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    expect(
      fixture.lines.filter(({ level, msg }) => level === 'error' && /cannot be told/.test(msg)).length,
    ).toBeGreaterThan(1);
  });

  it('is released after a search that continues over several rounds', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
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
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
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
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
  });
});

describe('a sweep', () => {
  it('of Ether brings what a payout lacks, and the payout waits until the sweep is confirmed', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'ETH', 3n * ETHER);
    await fixture.deposit(2, 'ETH', 2n * ETHER);
    const { id } = await fixture.reserve({ amount: 2n * ETHER });
    expect(await fixture.run()).toBe(1);
    expect(await fixture.transactions()).toMatchObject([
      { purpose: 'sweep', wallet: depositAddress(2), nonce: '0', asset: 'ETH' },
    ]);
    fixture.chain.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
    fixture.chain.mine();
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(await fixture.db.rows('select state from unswept_deposits order by derivation_index')).toEqual([
      { state: 'held' },
      { state: 'swept' },
    ]);
  });

  it.each(['ETH', 'USDC_ERC20'] as const)(
    'of %s that is mined between reading transactions and balances is not spent yet',
    async (asset) => {
      const amount = asset === 'ETH' ? 3n * ETHER : 3_000_000n;
      fixture.chain.fund('ETH', HOT, ETHER);
      await fixture.deposit(1, asset, amount);
      await fixture.reserve({ asset, amount: amount - amount / 10n });
      await fixture.run();
      expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
      const { sender } = fixture.chain;
      let isMined = false;
      const balance: typeof sender.balance = async (...given) => {
        if (!isMined) fixture.chain.mine();
        isMined = true;
        return sender.balance(...given);
      };
      await fixture.admin.rows('delete from leases');
      await fixture.run(fixture.replica({ sender: { ...sender, balance } }));
      expect(isMined).toBe(true);
      expect(await fixture.transactions()).toHaveLength(1);
      await fixture.admin.rows('delete from leases');
      await fixture.finish();
      expect(await fixture.transactions()).toMatchObject([
        { state: 'mined' },
        { purpose: 'payout', state: 'mined' },
      ]);
    },
  );

  it('of tokens is sent and paid for by the hot wallet', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'USDC_ERC20', 7_000_000n);
    await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
    const { id } = await fixture.reserve({ asset: 'USDC_ERC20', amount: 10_000_000n });
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(await fixture.transactions()).toMatchObject([
      { purpose: 'sweep', wallet: HOT, nonce: '0', amount: '12000000', swept_address: depositAddress(1) },
      { purpose: 'payout', wallet: HOT, nonce: '1' },
    ]);
    expect(fixture.chain.balance('USDC_ERC20', HOT)).toBe(2_000_000n);
  });

  it('is made only for what a payout needs', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.deposit(1, 'ETH', 3n * ETHER);
    await fixture.reserve();
    await fixture.finish();
    expect((await fixture.transactions()).map((one) => one['purpose'])).toEqual(['payout']);
  });

  it('is repeated after a pause when the token refused it', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'USDC_ERC20', 7_000_000n);
    const { id } = await fixture.reserve({ asset: 'USDC_ERC20', amount: 7_000_000n });
    fixture.chain.refusing.add(HOT);
    await fixture.run();
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    await fixture.run();
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'reverted' }]);
    expect(await fixture.db.one('select state, sweep_id from unswept_deposits')).toEqual({
      state: 'held',
      sweep_id: null,
    });
    fixture.chain.refusing.clear();
    await fixture.db.rows(`update unswept_deposits set retry_at = now() - interval '1 second'`);
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('of an address whose key is not ours is not tried, and an error is logged', async () => {
    await fixture.deposit(1, 'ETH', 5n * ETHER, `0x${'99'.repeat(20)}`);
    await fixture.reserve();
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: expect.stringMatching('does not derive from WALLET_SEED'),
      }),
    );
  });

  it('of deposits that the chain does not have is not tried, and an error is logged', async () => {
    const payload = fixture.depositPayload(4, 'ETH', 5n * ETHER);
    await fixture.deposit(4, 'ETH', ETHER);
    await fixture.db.rows(`update unswept_deposits set amount = $1`, [payload.amount]);
    await fixture.reserve();
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.lines).toContainEqual(expect.objectContaining({ level: 'error', has: '1', settled: '5' }));
  });

  it('that cannot be made is replaced by another one', async () => {
    await fixture.deposit(1, 'ETH', 5n * ETHER, `0x${'99'.repeat(20)}`);
    await fixture.deposit(2, 'ETH', 3n * ETHER);
    const { id } = await fixture.reserve();
    await fixture.db.rows(`update unswept_deposits set amount = 1.5e18 where derivation_index = 1`);
    await fixture.finish();
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('of less than it costs is not made', async () => {
    await fixture.deposit(1, 'ETH', 2n * 21_000n * MAX_FEE);
    await fixture.reserve({ amount: 1_000n });
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
  });

  it('is not signed for a deposit that was reversed since it was planned, and no nonce is taken', async () => {
    const deposit = await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.reserve({ asset: 'USDC_ERC20', amount: 5_000_000n });
    const { sender } = fixture.chain;
    const reversing: typeof sender.balance = async (asset, address) => {
      if (address === depositAddress(1)) {
        await fixture.db.transaction((trx) => reverseDeposits(trx, [{ payload: deposit }]));
      }
      return sender.balance(asset, address);
    };
    await fixture.run(fixture.replica({ sender: { ...sender, balance: reversing } }));
    expect(await fixture.transactions()).toEqual([]);
    expect(await fixture.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '0' });
  });

  it('of a reversed deposit does not make a payout wait', async () => {
    const deposit = await fixture.deposit(1, 'ETH', 5n * ETHER);
    await fixture.deposit(2, 'ETH', 6n * ETHER);
    const { id } = await fixture.reserve({ amount: 4n * ETHER });
    fixture.chain.fates.push('lose_bytes');
    await fixture.run();
    await fixture.db.transaction((trx) => reverseDeposits(trx, [{ payload: deposit }]));
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect((await fixture.transactions()).map((one) => one['swept_address'])).toContain(depositAddress(2));
  });
});

describe('a payout that needs more deposits than one round plans', () => {
  it('is paid after several rounds of sweeps', async () => {
    fixture.chain.fund('ETH', HOT, ETHER / 1_000n);
    for (let index = 0; index < 210; index++) await fixture.deposit(index, 'ETH', ETHER / 10n);
    const { id } = await fixture.reserve({ amount: (205n * ETHER) / 10n });
    expect(await fixture.run()).toBe(200);
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.finish();
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('gets the sweeps whose fees can be paid now, and waits for the others', async () => {
    const gas = (TOKEN_SWEEP_GAS + 90_000n) * MAX_FEE;
    fixture.chain.fund('ETH', HOT, gas);
    for (const index of [1, 2]) await fixture.deposit(index, 'USDC_ERC20', 6_000_000n);
    const { id } = await fixture.reserve({ asset: 'USDC_ERC20', amount: 10_000_000n });
    expect(await fixture.run()).toBe(1);
    expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.finish();
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });
});

it('many payouts that cannot be covered do not stop the next payout', async () => {
  fixture.chain.fund('ETH', HOT, 2n * ETHER);
  const payouts = [];
  for (let i = 0; i < 60; i++) payouts.push(await fixture.reserve({ amount: 1_000n * ETHER }));
  const { id } = await fixture.reserve();
  expect(await fixture.run()).toBe(1);
  expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
});

describe('deposits', () => {
  it('are stored once, however often the event arrives, and refuse other contents', async () => {
    const payload = await fixture.deposit(1, 'ETH', ETHER);
    await fixture.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
    expect(await fixture.db.rows('select 1 from unswept_deposits')).toHaveLength(1);
    const other = { ...payload, amount: '5' };
    await expect(fixture.db.transaction((trx) => recordDeposits(trx, [{ payload: other }]))).rejects.toThrow(
      'other contents',
    );
  });

  it('are never counted when their reversal arrives first', async () => {
    const payload = fixture.depositPayload(1, 'ETH', 9n * ETHER);
    await fixture.db.transaction((trx) => reverseDeposits(trx, [{ payload }]));
    await fixture.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
    await fixture.reserve();
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    expect(await fixture.db.one('select reversed_at from unswept_deposits')).toEqual({
      reversed_at: expect.any(Date),
    });
  });
});

describe('the node', () => {
  it('that does not answer about one transaction delays no other one', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const [odd, other] = [await fixture.reserve(), await fixture.reserve()];
    await fixture.run();
    const oddHash = (await fixture.transactions())[0]?.['tx_hash'];
    fixture.chain.mine(CONFIRMATIONS);
    const { sender } = fixture.chain;
    const status: typeof sender.status = async (txHash) => {
      if (txHash === oddHash) throw new Error('the node stumbles over this one');
      return sender.status(txHash);
    };
    const third = await fixture.reserve();
    await fixture.admin.rows('delete from leases');
    const stumbling = fixture.replica({ sender: { ...sender, status } });
    await fixture.run(stumbling);
    expect(await fixture.payout(odd.id)).toMatchObject({ status: 'broadcast' });
    expect(await fixture.payout(other.id)).toMatchObject({ status: 'mined' });
    expect(await fixture.payout(third.id)).toMatchObject({ status: 'broadcast' });
    expect(fixture.lines).toContainEqual(expect.objectContaining({ level: 'warn', transaction: oddHash }));
    await fixture.admin.rows('delete from leases');
    await fixture.finish();
    // Nor when it has ended.
    await fixture.reserve();
    await fixture.admin.rows('delete from leases');
    await fixture.db.rows('update transactions set looked_at = null');
    expect(await fixture.run(stumbling)).toBe(1);
  });

  it('that does not answer about settled transactions delays nothing else', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.reserve();
    await fixture.finish();
    const { id } = await fixture.reserve();
    await fixture.admin.rows('delete from leases');
    await fixture.db.rows('update transactions set looked_at = null');
    const { sender } = fixture.chain;
    const status = () => Promise.reject(new Error('the node stumbles'));
    await fixture.run(fixture.replica({ sender: { ...sender, status } }));
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', reason: expect.stringMatching('stumbles') }),
    );
  });

  it('that is down makes payouts wait until it is back', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    fixture.chain.isDown = true;
    await expect(fixture.run()).rejects.toThrow('ECONNREFUSED');
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    fixture.chain.isDown = false;
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('on another network stops signing, and an error is logged', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.reserve();
    fixture.chain.wrongNetwork = true;
    for (let i = 0; i < 3; i++) expect(await fixture.run()).toBe(0);
    expect(fixture.ports.signingPause.reason).toMatch('chain 1');
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.lines.filter((line) => line.msg === 'nothing is signed')).toHaveLength(1);
    fixture.chain.wrongNetwork = false;
    expect(await fixture.run()).toBe(1);
    expect(fixture.ports.signingPause.reason).toBeUndefined();
  });

  it('that knows earlier transactions of the hot wallet makes nonces continue after them once they are final', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    for (let i = 0; i < 3; i++) fixture.chain.useNonce(HOT);
    const { id } = await fixture.reserve();
    expect(await fixture.run()).toBe(0);
    expect(fixture.lines.at(-1)?.msg).toMatch('until its earlier transactions are final');
    fixture.chain.mine(fixture.chain.finalizedLag);
    await fixture.finish();
    expect(await fixture.transactions()).toMatchObject([{ nonce: '3' }]);
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });
});

describe('a chain that knows more of the hot wallet than the database', () => {
  it('pauses signing until an operator decides; signed transactions are followed', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const before = await fixture.reserve();
    await fixture.run();
    fixture.chain.mine();
    fixture.chain.useNonce(HOT);
    const { id } = await fixture.reserve();
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    for (let i = 0; i < 3; i++) await fixture.run();
    expect(fixture.ports.signingPause.reason).toMatch(
      /transactions of this wallet that this database does not know/,
    );
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'nothing is signed',
        reason: fixture.ports.signingPause.reason,
      }),
    );
    expect(await fixture.payout(before.id)).toMatchObject({ status: 'mined' });
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    expect(await fixture.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '1' });

    await fixture.db.rows('update wallets set next_nonce = 2');
    await fixture.finish();
    expect(fixture.ports.signingPause.reason).toBeUndefined();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('pauses signing after the database was restored: paid payouts are not paid again', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    await fixture.run();
    fixture.chain.mine();
    await fixture.admin.rows('delete from payments');
    await fixture.admin.rows('delete from transactions');
    await fixture.db.rows(`update wallets set next_nonce = 0`);
    await fixture.db.rows(`update payouts set status = 'reserved', tx_hash = null`);
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    // An operator resumes signing.
    await fixture.db.rows(`update payouts set status = 'broadcast' where id = $1`, [id]);
    fixture.chain.arrived.length = 0;
  });
});

/** One more replica, whose calls to its node are counted. */
function counted() {
  let calls = 0;
  const sender = new Proxy(fixture.chain.sender, {
    get(target, name, receiver) {
      const value = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      calls += 1;
      return value;
    },
  });
  return { ports: fixture.replica({ sender }), calls: () => calls };
}

describe('the chain worker', () => {
  it('is refused with the seed of another wallet', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.reserve();
    await fixture.run();
    const stranger = fixture.replica({
      sender: { ...fixture.chain.sender, hotAddress: `0x${'b1'.repeat(20)}` },
    });
    expect(await fixture.run(stranger)).toBe(0);
    expect(stranger.signingPause.reason).toMatch(/WALLET_SEED belongs to/);
    expect(await fixture.transactions()).toHaveLength(1);
  });

  it('runs in one process at a time', async () => {
    fixture.chain.fund('ETH', HOT, 100n * ETHER);
    for (let i = 0; i < 5; i++) await fixture.reserve();
    const others = [fixture.replica(), fixture.replica(), fixture.replica()];
    const done = await Promise.all(others.map((ports) => fixture.run(ports)));
    expect(done.sort()).toEqual([0, 0, 5]);
    expect(await fixture.transactions()).toHaveLength(5);
  });

  it('asks the node nothing without the lease', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.run();
    const follower = counted();
    for (let i = 0; i < 10; i++) expect(await fixture.run(follower.ports)).toBe(0);
    expect(follower.calls()).toBe(0);
  });

  it('gives its lease to another process when its own node is away or on another network', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    const wrong = fixture.replica({
      sender: { ...sender, check: () => Promise.reject(new WrongNetwork('the node is on chain 1')) },
    });
    const away = fixture.replica({
      sender: { ...sender, check: () => Promise.reject(new Error('ECONNREFUSED')) },
    });
    expect(await fixture.run(wrong)).toBe(0);
    await expect(fixture.run(away)).rejects.toThrow('ECONNREFUSED');
    expect(await fixture.run()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    // It has no lease, and still notices when its node is on the right network.
    expect(wrong.signingPause.reason).toMatch('chain 1');
    wrong.sender = sender;
    await fixture.run(wrong);
    expect(wrong.signingPause.reason).toBeUndefined();
  });

  it('asks its node once in fifteen rounds while nothing is open, and at once when a payout comes', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const idle = counted();
    const step = chainWorkerStep<'evm'>(idle.ports, idle.ports);
    await step();
    const perRound = idle.calls();
    expect(perRound).toBeGreaterThan(0);
    for (let second = 0; second < 60; second++) {
      // Also when the clock of its machine is set back.
      fixture.clock.advance(second === 20 ? -3_600_000 : 1_000);
      await step();
    }
    expect(idle.calls()).toBe(5 * perRound);

    const { id } = await fixture.reserve();
    expect(await step()).toBe(1);
    fixture.chain.mine(CONFIRMATIONS);
    expect(await step()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('keeps its lease in idle rounds, so that other replicas do not ask their nodes', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const [leader, follower] = [counted(), counted()];
    const leads = chainWorkerStep<'evm'>(leader.ports, leader.ports);
    const follows = chainWorkerStep<'evm'>(follower.ports, follower.ports);
    const left = `select extract(epoch from expires_at - now()) > 30 as long from leases`;
    for (let round = 0; round < 40; round++) {
      await fixture.db.rows(`update leases set expires_at = now() + interval '10 seconds'`);
      await leads();
      expect(await fixture.db.one(left)).toEqual({ long: true });
      await follows();
    }
    expect(leader.calls()).toBeGreaterThan(0);
    expect(follower.calls()).toBe(0);
  });

  it('does not renew the lease in idle rounds after it gave it up for a node on another network', async () => {
    const { sender } = fixture.chain;
    const wrong = fixture.replica({
      sender: { ...sender, check: () => Promise.reject(new WrongNetwork('the node is on chain 1')) },
    });
    const step = chainWorkerStep<'evm'>(wrong, wrong);
    for (let round = 0; round < 20; round++) {
      await step();
      expect(await fixture.db.one('select expires_at <= clock_timestamp() as free from leases')).toEqual({
        free: true,
      });
    }
  });

  it('keeps its lease during a long round, and notices when it is lost', async () => {
    const { settings } = fixture.ports;
    const lease = await takeLease(fixture.db, chainLease(fixture.ports), settings.replica, 1_000);
    if (lease === undefined) throw new Error('nobody else has it');
    await keepLease(fixture.ports, lease);
    const left = `select extract(epoch from expires_at - now()) > 30 as long from leases`;
    expect(await fixture.db.one(left)).toEqual({ long: true });
    await fixture.db.rows(`update leases set expires_at = now() - interval '1 second'`);
    await takeLease(fixture.db, chainLease(fixture.ports), 'another', 1);
    await expect(keepLease(fixture.ports, lease)).rejects.toThrow(LeaseLost);
    await fixture.db.rows(`update leases set expires_at = now() - interval '1 second'`);
    // Also when the other replica has released it: it may have signed in between.
    await expect(keepLease(fixture.ports, lease)).rejects.toThrow(LeaseLost);
  });

  it('keeps its lease while one answer of a slow node takes longer than the lease', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    const fees = async () => {
      await setTimeout(3_000);
      return sender.fees();
    };
    const short = () => ({ settings: { ...fixture.ports.settings, replica: randomUUID(), leaseMs: 1_000 } });
    const slow = fixture.run(fixture.replica({ ...short(), sender: { ...sender, fees } }));
    await setTimeout(2_000);
    expect(await fixture.run(fixture.replica(short()))).toBe(0);
    expect(await slow).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(await fixture.transactions()).toMatchObject([{ fence: '1' }]);
  });

  it('signs nothing after it lost its lease during a round', async () => {
    fixture.chain.fund('ETH', HOT, 100n * ETHER);
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    // A pause between reading and signing, in which another replica took the lease and paid.
    const asleep = {
      ...sender,
      estimateTransfer: async (...given: Parameters<typeof sender.estimateTransfer>) => {
        await fixture.db.rows(`update leases set expires_at = now() - interval '1 second'`);
        await fixture.run();
        return sender.estimateTransfer(...given);
      },
    };
    expect(await fixture.run(fixture.replica({ sender: asleep }))).toBe(0);
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ msg: 'another replica has taken the lease of the chain worker' }),
    );
    expect(await fixture.transactions()).toHaveLength(1);
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });
});
