import { describe, expect, it } from '@jest/globals';
import type { Queryable, Trx } from '@quittance/shared/db';
import { watchEnded } from '../src/operations/watch-ended.ts';
import { BITCOIN, type BitcoinFixture, bitcoinSuite, CONFIRMATIONS } from './bitcoin-fixture.ts';

/** Payouts whose blocks a real Bitcoin node drops, or whose transactions it loses. */
let fixture: BitcoinFixture;
bitcoinSuite((fresh) => {
  fixture = fresh;
});

describe('a node with faults', () => {
  it('that accepts a transaction and loses its answer gets the same bytes again, and pays once', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    fixture.onBroadcast = async (_raw, send) => {
      await send();
      return 'unknown';
    };
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('signed');
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(await fixture.transactions()).toHaveLength(1);
  });

  it.each(['unknown', 'rejected'] as const)(
    'that never gets the bytes (%s) gets them again until it has them',
    async (answer) => {
      await fixture.deposit(BITCOIN);
      const payout = await fixture.reserve(BITCOIN / 4n);
      fixture.onBroadcast = async () => answer;
      await fixture.run();
      await fixture.node.mine(CONFIRMATIONS);
      await fixture.run();
      await fixture.run();
      expect(await fixture.statusOf(payout)).toBe('signed');
      expect(fixture.sent.length).toBeGreaterThan(1);
      fixture.onBroadcast = (_raw, send) => send();
      await fixture.finish();
      expect(await fixture.statusOf(payout)).toBe('mined');
      expect(new Set(fixture.sent).size).toBe(1);
    },
  );

  it('that loses its mempool gets the same bytes again', async () => {
    const payout = await fixture.send();
    await fixture.loseMempool();
    expect(await fixture.node.rpc('getrawmempool')).toEqual([]);
    fixture.clock.advance(10 * 60_000);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(new Set(fixture.sent).size).toBe(1);
  });
});

describe('a reorganisation', () => {
  it.each([1, 2, 3, 4, 5, 6])(
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
    await fixture.finish();
    expect([await fixture.statusOf(first), await fixture.statusOf(second)]).toEqual(['mined', 'mined']);
    expect(await fixture.transactions()).toHaveLength(2);
  });

  it('deeper than the confirmations makes the worker send a settled payout again', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    await fixture.node.reorganise(await depthOfFirst());
    await fixture.loseMempool();
    await fixture.db.rows(`update transactions set looked_at = null`);
    await fixture.run();
    await fixture.node.mine(1);
    expect(await fixture.paidTo(payout.to)).toHaveLength(1);
  });

  it('of final blocks makes the worker send a settled payout again', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
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
    await fixture.deposit(BITCOIN);
    await fixture.reserve(BITCOIN / 4n);
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
