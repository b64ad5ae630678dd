import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Broadcast } from '@quittance/chains/chain';
import type { Queryable, Trx } from '@quittance/shared/db';
import { seeded } from '@quittance/testkit/seeded';
import { watchEnded } from '../src/operations/watch-ended.ts';
import { BITCOIN, bitcoinSuite, CONFIRMATIONS } from './bitcoin-fixture.ts';

/** Payouts whose blocks a real Bitcoin node drops, or whose transactions it loses, and random faults of all kinds. */
const fixture = bitcoinSuite();

describe('a node with faults', () => {
  type Send = () => Promise<Broadcast>;
  it.each<[string, (send: Send) => Promise<Broadcast>]>([
    ['accepts a transaction and loses its answer', (send) => send().then(() => 'unknown')],
    ['loses the bytes', async () => 'unknown'],
    ['refuses the bytes', async () => 'rejected'],
  ])('that %s gets the same bytes again, and pays once', async (_, broadcast) => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    fixture.onBroadcast = (_raw, send) => broadcast(send);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('signed');
    fixture.onBroadcast = (_raw, send) => send();
    await fixture.expectPaid(payout);
    expect(new Set(fixture.sent).size).toBe(1);
  });

  it('that is killed and loses its mempool gets the same bytes again', async () => {
    const payout = await fixture.send();
    fixture.node.kill();
    await fixture.node.restart();
    expect(await fixture.node.rpc('getrawmempool')).toEqual([]);
    fixture.clock.advance(10 * 60_000);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    await fixture.expectPaid(payout);
    expect(new Set(fixture.sent).size).toBe(1);
  });
});

describe('a reorganisation', () => {
  it.each([1, 3, 6])(
    'of %s blocks that drops a payout makes the worker send the same bytes again',
    async (depth) => {
      const payout = await fixture.send(8);
      await fixture.node.mine(depth);
      await fixture.run();
      expect((await fixture.utxos()).find(({ branch }) => branch === 'change')?.state).toBe('available');
      await fixture.node.reorganise(depth);
      await fixture.run();
      expect((await fixture.utxos()).find(({ branch }) => branch === 'change')?.state).toBe('incoming');
      expect(await fixture.statusOf(payout)).toBe('broadcast');
      for (let i = 0; i < 3; i++) {
        await fixture.run();
        await fixture.node.mine(4);
      }
      await fixture.run();
      expect(await fixture.statusOf(payout)).toBe('mined');
      expect(new Set(fixture.sent).size).toBe(1);
    },
  );

  it('is stored together with its change, so that the change of a mined transaction can be spent', async () => {
    await fixture.send();
    await fixture.node.mine(1);
    const refusing = <Q extends Queryable>(of: Q): Q => ({
      ...of,
      rows: async (sql, values) => {
        if (typeof sql !== 'string' && sql.name === 'utxos_change_in_block') throw new Error('no');
        return of.rows(sql, values);
      },
    });
    const db = {
      ...refusing(fixture.db),
      transaction: <T>(work: (trx: Trx) => Promise<T>) =>
        fixture.db.transaction((trx) => work(refusing(trx))),
    };
    await expect(fixture.run({ ...fixture.ports, db })).rejects.toThrow('no');
    await fixture.run();
    expect((await fixture.utxos()).find(({ branch }) => branch === 'change')?.state).toBe('available');
  });

  it('that drops a payout and the one that spends its change makes the worker send both again', async () => {
    const first = await fixture.send();
    await fixture.node.mine(1);
    const second = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await fixture.node.mine(1);
    await fixture.run();
    await fixture.node.reorganise(2);
    await fixture.loseMempool();
    await fixture.run();
    await fixture.expectPaid(first, second);
    expect(await fixture.transactions()).toHaveLength(2);
  });

  it('deeper than the confirmations makes the worker send a settled payout again', async () => {
    const payout = await fixture.send();
    await fixture.expectPaid(payout);
    await fixture.node.reorganise(await depthOfFirst());
    await fixture.loseMempool();
    await fixture.db.rows(`update transactions set looked_at = null`);
    await fixture.run();
    await fixture.node.mine(1);
    expect(await fixture.paidTo(payout.to)).toHaveLength(1);
  });

  it('of final blocks makes the worker send a settled payout again', async () => {
    const payout = await fixture.send();
    await fixture.finish();
    await fixture.node.mine(101);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject([{ state: 'mined', final_at: expect.any(Date) }]);
    await fixture.node.reorganise(await depthOfFirst());
    await fixture.loseMempool();
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject([{ missing_since: expect.any(Date) }]);
    await fixture.node.mine(1);
    expect(await fixture.paidTo(payout.to)).toHaveLength(1);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject([{ state: 'mined', missing_since: null }]);
  });

  it('is not assumed when a node lags, and a final payout is not sent again', async () => {
    await fixture.send();
    await fixture.finish();
    await fixture.node.mine(101);
    await watchEnded(fixture.ports, 0);
    const settled = [{ state: 'mined', missing_since: null, final_at: expect.any(Date), broadcasts: 1 }];
    expect(await fixture.transactions()).toMatchObject(settled);
    const unread = await fixture.node.rpc(
      'getblockhash',
      (await fixture.height()) - (await depthOfFirst()) + 1,
    );
    await fixture.node.rpc('invalidateblock', unread);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject(settled);
    await fixture.node.rpc('reconsiderblock', unread);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject(settled);
  });

  /** How many blocks must be dropped to drop the first payout. */
  async function depthOfFirst(): Promise<number> {
    const lowest = await fixture.db.one<{ height: string }>(
      'select min(block_height) as height from transactions',
    );
    return (await fixture.height()) - Number(lowest.height) + 1; // eslint-disable-line no-restricted-syntax -- a height
  }
});

const STEPS = 45;

const nobody = () => `raw(6a08${randomBytes(8).toString('hex')})`;

async function settledDeposit(satoshi: bigint): Promise<void> {
  const { payload } = await fixture.deposit(satoshi, { settled: false });
  await fixture.node.mine(CONFIRMATIONS - 1);
  await fixture.settled(payload);
}

/** One random step. A step that the chain refuses does nothing. */
async function step(roll: (sides: number) => number): Promise<void> {
  const { node } = fixture;
  switch (roll(12)) {
    case 0:
      await settledDeposit(BigInt(1 + roll(200)) * (BITCOIN / 100n));
      return;
    case 1:
    case 2:
    case 3:
      await fixture.reserve(BigInt(1 + roll(60)) * (BITCOIN / 100n));
      return;
    case 4:
    case 5:
      await node.mine(1 + roll(2));
      return;
    case 6: {
      // Dropped transactions return to the mempool, or are lost with it. The depth is less than the confirmations.
      const depth = 1 + roll(CONFIRMATIONS - 1);
      await node.reorganise(depth);
      if (roll(2) === 1) await fixture.loseMempool();
      return;
    }
    case 7: {
      // A miner includes an attempt that was replaced.
      const attempts = (await fixture.transactions()).filter(({ state }) =>
        ['signed', 'broadcast'].includes(state),
      );
      const one = attempts[roll(Math.max(attempts.length, 1))];
      if (one === undefined) return;
      await node.rpc('generateblock', nobody(), [one.raw]).catch((error: Error) => {
        expect(error.message).toMatch(/TestBlockValidity|already|bad-txns|missing/i);
      });
      return;
    }
    case 8:
      fixture.clock.advance(21 * 60_000);
      await fixture.run();
      return;
    default:
      await fixture.run();
  }
}

it.each([1, 2])(
  'after random faults each payout is paid once, or proved to be never paid, seed %i',
  async (seed) => {
    const random = seeded(seed);
    const roll = (sides: number) => Math.floor(random() * sides);
    fixture.onBroadcast = async (_raw, send) => {
      const luck = roll(4);
      if (luck === 0) return 'unknown';
      const answer = await send();
      return luck === 1 ? 'unknown' : answer;
    };
    await settledDeposit(3n * BITCOIN);
    for (let i = 0; i < STEPS; i++) await step(roll);
    fixture.onBroadcast = (_raw, send) => send();
    await settledDeposit(50n * BITCOIN);
    for (let i = 0; i < 12; i++) {
      fixture.clock.advance(40_000);
      await fixture.run();
      await fixture.node.mine(CONFIRMATIONS);
    }
    await fixture.run();
    const ends = await fixture.db.rows<{ status: string; proved: boolean }>(
      `select status, exists (select from payments join transactions using (replacement_group)
       where payout_id = payouts.id and transactions.state = 'invalidated') as proved from payouts`,
    );
    for (const { status, proved } of ends)
      expect([status, status === 'failed' && !proved]).toEqual([status, false]);
    expect(ends.filter(({ status }) => !['mined', 'failed'].includes(status))).toEqual([]);
    expect(ends.filter(({ status }) => status === 'mined').length).toBeGreaterThan(0);
    expect(await fixture.spent()).toHaveLength(
      (await fixture.transactions()).filter(({ state }) => state === 'mined').length,
    );
  },
);
