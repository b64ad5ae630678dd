import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EvmSender } from '@quittance/chains/chain';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { watchEnded } from '../src/operations/watch-ended.ts';
import { CONFIRMATIONS, EngineWorld, ETHER } from './engine-world.ts';
import { depositAddress, HOT, MAX_FEE } from './scripted-chain.ts';

/** Transactions that no block takes: their successors, and that only one of a group is ever the end of it. */
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

const STUCK_MS = 180_000;

/** A payout was sent, and then blocks became dearer. */
async function aStuckPayout(): Promise<{
  id: Awaited<ReturnType<EngineWorld['reserve']>>['id'];
  to: string;
}> {
  world.chain.fund('ETH', HOT, 10n * ETHER);
  const reserved = await world.reserve();
  await world.run();
  world.chain.leastFee = 3n * MAX_FEE;
  world.chain.mine();
  world.clock.advance(STUCK_MS + 1);
  return reserved;
}

/** Rounds at once whatever the lease of a process that died says. */
async function runAfterDeath(): Promise<void> {
  await world.db.rows(`update leases set expires_at = now() - interval '1 second'`);
  await world.run();
}

const sentOf = (): Promise<{ purpose: string; tx_hash: string; amount: string }[]> =>
  world.db.rows(
    `select payload->>'purpose' as purpose, payload->>'tx_hash' as tx_hash, payload->>'amount' as amount
     from outbox where kind = 'network.spent' order by seq`,
  );

describe('a payout that is stuck', () => {
  it('is signed again with the same nonce, recipient and amount and a higher fee, and paid once', async () => {
    const { id, to } = await aStuckPayout();
    await world.run();
    const [first, second] = await world.transactions();
    expect([first, second]).toMatchObject([
      { attempt: 1, nonce: '0', state: 'broadcast' },
      { attempt: 2, nonce: '0', state: 'broadcast', family: first?.['id'], amount: ETHER.toString() },
    ]);
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast', tx_hash: second?.['tx_hash'] });
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined', tx_hash: second?.['tx_hash'] });
    expect(await world.transactions()).toMatchObject([{ state: 'dead' }, { state: 'mined' }]);
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(await world.announced(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const spent = [
      { purpose: 'payout', tx_hash: second?.['tx_hash'], amount: (21_000n * 3n * MAX_FEE).toString() },
    ];
    expect(await sentOf()).toEqual(spent);
  });

  it('is not signed again before its time, nor while it is in a block', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    await world.reserve();
    await world.run();
    world.clock.advance(STUCK_MS - 1);
    await world.run();
    expect(await world.transactions()).toHaveLength(1);
    world.chain.mine();
    world.clock.advance(2);
    await world.run();
    expect(await world.transactions()).toHaveLength(1);
  });

  it('is settled by the older attempt when that one is mined after all', async () => {
    const { id, to } = await aStuckPayout();
    await world.run();
    const [first] = await world.transactions();
    world.chain.mineBytes(String(first?.['raw']));
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined', tx_hash: first?.['tx_hash'] });
    expect(await world.transactions()).toMatchObject([{ state: 'mined' }, { state: 'dead' }]);
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(await sentOf()).toMatchObject([{ tx_hash: first?.['tx_hash'] }]);
  });

  it('is not sent again when a deep reorganisation has put another attempt in its place', async () => {
    const { id, to } = await aStuckPayout();
    await world.run();
    const [first] = await world.transactions();
    world.chain.mine(CONFIRMATIONS);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    world.chain.reorg(CONFIRMATIONS, 'gone');
    world.chain.mineBytes(String(first?.['raw']));
    const sent = world.chain.arrived.length;
    await watchEnded(world.ports, 0);
    expect(world.chain.arrived).toHaveLength(sent);
    expect(world.lines.some((line) => /taken the place of a settled/.test(line.msg))).toBe(true);
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
  });

  it('never fails because another attempt of its own took the nonce, even when that one is final before it is deep', async () => {
    world.chain.finalizedLag = 0;
    const { id, to } = await aStuckPayout();
    await world.run();
    const [first] = await world.transactions();
    world.chain.mineBytes(String(first?.['raw']));
    world.chain.hasNoReceipts = true;
    for (let i = 0; i < 3; i++) {
      await world.run();
      world.clock.advance(31_000);
    }
    expect(await world.payout(id)).toMatchObject({ status: 'broadcast' });
    world.chain.hasNoReceipts = false;
    world.chain.mine(CONFIRMATIONS);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
  });

  it('is released only when another transaction took the nonce: all its attempts are dead then', async () => {
    const { id, to } = await aStuckPayout();
    await world.run();
    world.chain.useNonce(HOT);
    world.chain.mine(world.chain.finalizedLag + 1);
    for (let i = 0; i < 3; i++) {
      await world.run();
      world.clock.advance(31_000);
    }
    expect(await world.payout(id)).toMatchObject({ status: 'failed' });
    expect(await world.transactions()).toMatchObject([{ state: 'dead' }, { state: 'dead' }]);
    expect(await world.announced(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    expect(world.chain.paymentsTo(to)).toEqual([]);
  });

  it('gets so many successors and no more, and an operator hears of it', async () => {
    await aStuckPayout();
    world.chain.leastFee = 1_000n * MAX_FEE;
    for (let i = 0; i < 12; i++) {
      await world.run();
      world.clock.advance(STUCK_MS + 1);
    }
    const attempts = await world.transactions();
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.length).toBeLessThanOrEqual(7);
    const costs = attempts.map((one) => BigInt(String(one['max_cost'])));
    expect(costs.at(-1)).toBeLessThanOrEqual(21_000n * MAX_FEE * 10n);
    expect(world.lines.filter((line) => /not raised any more/.test(line.msg)).length).toBeGreaterThan(0);
    world.chain.leastFee = 1n;
    await world.finish();
  });

  it('goes out with those behind it, when they offer too little as well', async () => {
    world.chain.fund('ETH', HOT, 10n * ETHER);
    const payouts = [await world.reserve(), await world.reserve(), await world.reserve()];
    await world.run();
    world.chain.leastFee = 2n * MAX_FEE;
    world.clock.advance(STUCK_MS + 1);
    await world.run();
    expect(await world.transactions()).toHaveLength(6);
    await world.finish();
    for (const { id, to } of payouts) {
      expect(await world.payout(id)).toMatchObject({ status: 'mined' });
      expect(world.chain.paymentsTo(to)).toHaveLength(1);
    }
  });

  it('keeps the chance of the older attempt while no node takes the newer one', async () => {
    const { id, to } = await aStuckPayout();
    // The older bytes again, and their successor.
    world.chain.fates.push('accept', 'reject');
    await world.run();
    const [first] = await world.transactions();
    world.chain.forgetPool();
    world.chain.fates.push('accept', 'reject');
    world.clock.advance(5_001);
    await world.run();
    world.chain.leastFee = MAX_FEE;
    world.chain.mine(CONFIRMATIONS);
    await world.run();
    expect(await world.payout(id)).toMatchObject({ status: 'mined', tx_hash: first?.['tx_hash'] });
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
  });

  it('waits when the hot wallet cannot pay more, and it is said', async () => {
    const cost = 21_000n * MAX_FEE;
    world.chain.fund('ETH', HOT, ETHER + cost);
    await world.reserve();
    await world.run();
    world.chain.leastFee = 3n * MAX_FEE;
    world.clock.advance(STUCK_MS + 1);
    await world.run();
    expect(await world.transactions()).toHaveLength(1);
    expect(world.lines.some((line) => /cannot be raised/.test(line.msg))).toBe(true);
  });
});

describe('a process that dies over a successor', () => {
  const dying = (given: Partial<EvmSender>) => ({
    ...world.ports,
    sender: { ...world.chain.sender, ...given },
  });

  it('before it is stored has done nothing', async () => {
    const { id, to } = await aStuckPayout();
    const signTransfer = () => Promise.reject(new Error('killed'));
    await expect(world.run(dying({ signTransfer }))).rejects.toThrow('killed');
    expect(await world.transactions()).toHaveLength(1);
    await runAfterDeath();
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
  });

  it('before it is sent has it sent by the next, with the stored bytes', async () => {
    const { id, to } = await aStuckPayout();
    const known = (await world.transactions()).length;
    const broadcast: EvmSender['broadcast'] = async (raw) => {
      if ((await world.transactions()).length > known) throw new Error('killed');
      return world.chain.sender.broadcast(raw);
    };
    await expect(world.run(dying({ broadcast }))).rejects.toThrow('killed');
    const [, second] = await world.transactions();
    expect(second).toMatchObject({ state: 'signed', attempt: 2 });
    await runAfterDeath();
    expect(world.chain.arrived).toContain(second?.['raw']);
    await world.finish();
    expect(await world.transactions()).toMatchObject([{ state: 'dead' }, { state: 'mined' }]);
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
  });

  it.each(['lose_answer', 'lose_bytes', 'reject'] as const)(
    'or hears nothing of it (%s): one payment',
    async (fate) => {
      const { id, to } = await aStuckPayout();
      // The first is the older bytes, sent again as they are in no block.
      world.chain.fates.push('accept', fate, fate);
      await world.run();
      world.clock.advance(10_000);
      await world.finish();
      world.clock.advance(10_000);
      await world.finish();
      expect(await world.payout(id)).toMatchObject({ status: 'mined' });
      expect(world.chain.paymentsTo(to)).toHaveLength(1);
    },
  );
});

describe('a sweep that is stuck', () => {
  it.each([
    ['ETH', 5n * ETHER, ETHER],
    ['USDC_ERC20', 5_000_000n, 4_000_000n],
  ] as const)('of %s is signed again, and the payout behind it is paid', async (asset, held, wanted) => {
    if (asset === 'USDC_ERC20') world.chain.fund('ETH', HOT, ETHER);
    await world.deposit(1, asset, held);
    const { id, to } = await world.reserve({ asset, amount: wanted });
    await world.run();
    world.chain.leastFee = 3n * MAX_FEE;
    world.clock.advance(STUCK_MS + 1);
    await world.run();
    expect(await world.transactions()).toMatchObject([
      { purpose: 'sweep', attempt: 1, swept_address: depositAddress(1) },
      { purpose: 'sweep', attempt: 2, swept_address: depositAddress(1), nonce: '0' },
    ]);
    await world.finish();
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(world.chain.paymentsTo(to)).toHaveLength(1);
    expect(await world.db.rows('select state from holdings')).toEqual([{ state: 'swept' }]);
    expect(world.chain.balance(asset, depositAddress(1))).toBe(0n);
    expect((await sentOf()).map(({ purpose }) => purpose)).toEqual(['sweep', 'payout']);
  });

  it('brings the money when the older attempt is mined', async () => {
    await world.deposit(1, 'ETH', 5n * ETHER);
    const { id } = await world.reserve();
    await world.run();
    world.chain.leastFee = 3n * MAX_FEE;
    world.clock.advance(STUCK_MS + 1);
    await world.run();
    const [first] = await world.transactions();
    world.chain.mineBytes(String(first?.['raw']));
    world.chain.leastFee = MAX_FEE;
    await world.finish();
    await world.finish();
    expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    expect(await world.transactions()).toMatchObject([
      { state: 'mined' },
      { state: 'dead' },
      { state: 'mined' },
    ]);
  });
});
