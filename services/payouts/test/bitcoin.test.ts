import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Queryable, Trx } from '@quittance/shared/db';
import { newDepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { watchEnded } from '../src/operations/watch-ended.ts';
import {
  BITCOIN,
  type BitcoinGround,
  BitcoinWorld,
  bitcoinGround,
  CONFIRMATIONS,
  type Deposit,
} from './bitcoin-world.ts';

/** Hardly a reorganisation goes so deep: less is no proof that a payment is dead. */
const PROOF_CONFIRMATIONS = 6;

/** The chain worker on a real Bitcoin node, stepped by hand. */
let ground: BitcoinGround;
let world: BitcoinWorld;

beforeAll(async () => {
  ground = await bitcoinGround();
});
afterAll(() => ground?.stop());
beforeEach(async () => {
  world = await BitcoinWorld.fresh(ground);
});
afterEach(async () => {
  try {
    await world.expectSound();
  } finally {
    await world.close();
  }
});

describe('a payout', () => {
  it('is paid from a deposit, and what is left comes back', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.run();
    expect(await world.statusOf(payout)).toBe('broadcast');
    const [transaction] = await world.transactions();
    expect((await world.coins()).map(({ branch, state }) => [branch, state])).toEqual([
      ['deposit', 'locked'],
      ['change', 'coming'],
    ]);
    await world.node.mine(CONFIRMATIONS - 1);
    await world.run();
    expect(await world.statusOf(payout)).toBe('broadcast');
    await world.node.mine(1);
    await world.run();
    expect(await world.payout(payout.id)).toMatchObject({ status: 'mined', tx_hash: transaction?.tx_hash });
    expect(await world.announced(payout)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const [deposit, change] = await world.coins();
    expect([deposit?.state, change?.state]).toEqual(['spent', 'available']);
    const [spent] = await world.spent();
    expect(BigInt(change?.amount ?? 0) + BigInt(spent?.amount ?? 0) + payout.amount).toBe(BITCOIN);
    expect(await world.db.rows('select state from holdings')).toEqual([{ state: 'swept' }]);
    await world.run();
    expect(await world.spent()).toEqual([{ tx_hash: transaction?.tx_hash, amount: '282' }]);
  });

  it('takes as many UTXOs as it needs', async () => {
    for (let i = 0; i < 4; i++) await world.deposit(BITCOIN / 10n);
    const payout = await world.reserve((BITCOIN * 35n) / 100n);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect((await world.coins()).filter(({ state }) => state === 'spent')).toHaveLength(4);
  });

  it('with others is one transaction, in which each has its output', async () => {
    await world.deposit(BITCOIN);
    const payouts = [];
    // Two of the same amount to the same address: each is one of two outputs.
    for (let i = 1n; i <= 10n; i++) payouts.push(await world.reserve(i * 10_000n));
    await world.finish();
    for (const payout of payouts) expect(await world.statusOf(payout)).toBe('mined');
    const [transaction, ...others] = await world.transactions();
    expect(others).toEqual([]);
    const rows = await world.db.rows<{ payout_id: string; output_index: number }>(
      'select payout_id, output_index from payments order by output_index',
    );
    expect(rows.map((row) => row.payout_id)).toEqual(payouts.map(({ id }) => id));
    for (const [n, { to, amount }] of payouts.entries()) {
      expect(await world.paidTo(to)).toMatchObject([{ outpoint: `${transaction?.tx_hash}:${n}`, amount }]);
    }
    expect(await world.spent()).toHaveLength(1);
  });

  it('waits a moment for others', async () => {
    await world.deposit(BITCOIN);
    await world.reserve(10_000n);
    world.clock.advance(-60_000);
    await world.run();
    expect(await world.transactions()).toEqual([]);
    world.clock.advance(60_000);
    await world.run();
    expect(await world.transactions()).toHaveLength(1);
  });

  it('waits for change to come back with a block, and is paid out of it', async () => {
    await world.deposit(BITCOIN);
    const first = await world.reserve(BITCOIN / 4n);
    await world.run();
    const second = await world.reserve(BITCOIN / 2n);
    await world.run();
    expect([await world.statusOf(first), await world.statusOf(second)]).toEqual(['broadcast', 'reserved']);
    await world.node.mine(1);
    await world.run();
    expect(await world.statusOf(second)).toBe('broadcast');
    await world.finish();
    expect([await world.statusOf(first), await world.statusOf(second)]).toEqual(['mined', 'mined']);
    expect(await world.spent()).toHaveLength(2);
  });

  it('that all UTXOs do not cover is passed over, and an error is logged', async () => {
    await world.deposit(BITCOIN);
    const large = await world.reserve(2n * BITCOIN);
    const small = await world.reserve(BITCOIN / 2n);
    await world.finish();
    expect([await world.statusOf(large), await world.statusOf(small)]).toEqual(['reserved', 'mined']);
    expect(world.lines).toContainEqual(
      expect.objectContaining({ level: 'error', asset: 'BTC', has: '1', needs: '2', payouts: 1 }),
    );
    await world.deposit(2n * BITCOIN);
    await world.finish();
    expect(await world.statusOf(large)).toBe('mined');
  });

  it('of all there is waits for the fee', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN);
    await world.run();
    expect(await world.statusOf(payout)).toBe('reserved');
    await world.deposit(10_000n);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(await world.spent()).toMatchObject([{ amount: expect.stringMatching(/^\d{3,5}$/) }]);
  });

  it('whose fee is not covered does not keep smaller ones waiting', async () => {
    await world.deposit(BITCOIN);
    const all = await world.reserve(BITCOIN);
    const small = await world.reserve(BITCOIN / 2n);
    await world.finish();
    expect([await world.statusOf(all), await world.statusOf(small)]).toEqual(['reserved', 'mined']);
  });

  it('that needs more UTXOs than a transaction takes is paid when they are merged', async () => {
    await world.depositMany(250, 10_000n);
    const payout = await world.reserve(2_400_000n);
    await world.run();
    expect(await world.statusOf(payout)).toBe('reserved');
    const [merge] = await world.transactions();
    expect(merge).toMatchObject({ purpose: 'sweep', state: 'broadcast' });
    // One at a time, and no second one before the first has come back.
    await world.run();
    expect(await world.transactions()).toHaveLength(1);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(await world.transactions()).toHaveLength(2);
    expect(await world.spent()).toHaveLength(2);
    const left = (await world.db.rows<{ state: string }>('select distinct state from holdings')).map(
      ({ state }) => state,
    );
    expect(left.sort()).toEqual(['held', 'swept']);
  });

  it('that as many UTXOs as a transaction takes cover, but not its fee, is paid when they are merged', async () => {
    await world.depositMany(200, 10_000n);
    await world.depositMany(50, 9_000n);
    const payout = await world.reserve(1_999_000n);
    const small = await world.reserve(10_000n);
    await world.run();
    expect(await world.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
    await world.finish();
    expect([await world.statusOf(payout), await world.statusOf(small)]).toEqual(['mined', 'mined']);
    expect(await world.spent()).toHaveLength(2);
  });

  it('for which UTXOs cannot be merged at this fee does not delay others', async () => {
    await world.depositMany(200, 100_000n);
    await world.depositMany(50, 90_000n);
    const sender = { ...world.sender, feeRate: async () => 400n };
    const payouts = [await world.reserve(19_990_000n), await world.reserve(21_000_000n)];
    const small = await world.reserve(1_000_000n);
    await world.run(world.replica({ sender }));
    expect(await Promise.all(payouts.map((one) => world.statusOf(one)))).toEqual(['reserved', 'reserved']);
    expect(await world.statusOf(small)).toBe('broadcast');
    expect(world.lines).toContainEqual(expect.objectContaining({ level: 'error', asset: 'BTC', payouts: 1 }));
  });

  it('is not paid from UTXOs that cost more to spend than they hold, and they are not merged', async () => {
    await world.depositMany(199, 10_000n);
    await world.depositMany(61, 600n);
    const payout = await world.reserve(1_993_000n);
    await world.run(world.replica({ sender: { ...world.sender, feeRate: async () => 10n } }));
    expect(await world.statusOf(payout)).toBe('reserved');
    expect(await world.transactions()).toEqual([]);
    expect(world.lines).toContainEqual(
      expect.objectContaining({ level: 'error', has: '0.0199', needs: '0.01993' }),
    );
  });

  it('of dust is refused, and does not delay others', async () => {
    await world.deposit(BITCOIN);
    const dust = await world.reserve(545n);
    const other = await world.reserve(546n);
    await world.finish();
    expect([await world.statusOf(dust), await world.statusOf(other)]).toEqual(['failed', 'mined']);
    expect(await world.announced(dust)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
  });

  it('is paid from what an operator sent to the hot address', async () => {
    await world.node.pay(world.wallet.hotAddress, '0.5');
    await world.node.mine(1);
    await world.run();
    // The first look finds all that is there.
    expect((await world.coins()).map(({ branch, amount }) => [branch, amount])).toEqual([
      ['hot', '50000000'],
    ]);
    await world.node.pay(world.wallet.hotAddress, '0.7');
    await world.node.mine(5);
    await world.run();
    expect(await world.coins()).toHaveLength(1);
    await world.node.mine(1);
    await world.run();
    expect(await world.coins()).toHaveLength(2);
    const payout = await world.reserve(BITCOIN);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
  });

  it('never uses a UTXO whose deposit was reversed, in whichever order the events arrive', async () => {
    const [gone, never, stays] = [
      await world.deposit(5n * BITCOIN),
      await world.deposit(6n * BITCOIN, { settled: false }),
      await world.deposit(BITCOIN),
    ];
    await world.reversed(gone.payload);
    await world.reversed(never.payload);
    await world.settled(never.payload);
    const payout = await world.reserve(BITCOIN / 2n);
    const large = await world.reserve(2n * BITCOIN);
    await world.finish();
    expect([await world.statusOf(payout), await world.statusOf(large)]).toEqual(['mined', 'reserved']);
    const spent = (await world.coins()).filter(({ state }) => state === 'spent');
    expect(spent.map(({ outpoint }) => outpoint)).toEqual([stays.outpoint]);
  });
});

describe('a deposit whose block was dropped and that is mined again, as a deposit of its own', () => {
  const again = ({ payload }: Deposit) => ({ ...payload, deposit_id: newDepositId(new Date()) });
  const coin = () =>
    world.db.rows('select source_deposit_id, state, reversed_at is not null as reversed from coins');

  it('is spent like any other, and a late event of the earlier one changes nothing', async () => {
    const deposit = await world.deposit(BITCOIN);
    const later = again(deposit);
    await world.reversed(deposit.payload);
    await world.settled(later);
    const standing = [{ source_deposit_id: later.deposit_id, state: 'available', reversed: false }];
    expect(await coin()).toEqual(standing);
    await world.reversed(deposit.payload);
    await world.settled(deposit.payload);
    expect(await coin()).toEqual(standing);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(
      await world.db.rows('select deposit_id, state, reversed_at is not null as reversed from holdings'),
    ).toEqual(
      expect.arrayContaining([
        { deposit_id: deposit.payload.deposit_id, state: 'held', reversed: true },
        { deposit_id: later.deposit_id, state: 'swept', reversed: false },
      ]),
    );
  });

  it('has to wait for the reversal of the earlier one', async () => {
    const deposit = await world.deposit(BITCOIN);
    const later = again(deposit);
    await expect(world.settled(later)).rejects.toThrow('one deposit for each output');
    expect(await world.db.rows('select deposit_id from holdings')).toHaveLength(1);
    await world.reversed(deposit.payload);
    await world.settled(later);
    expect(await coin()).toMatchObject([{ source_deposit_id: later.deposit_id, reversed: false }]);
  });

  it('is reversed as well, in whichever order the events arrive', async () => {
    const deposit = await world.deposit(BITCOIN);
    const later = again(deposit);
    await world.reversed(later);
    expect(await coin()).toMatchObject([{ source_deposit_id: deposit.payload.deposit_id, reversed: false }]);
    await world.reversed(deposit.payload);
    await world.settled(later);
    expect(await coin()).toMatchObject([{ reversed: true }]);
    const last = again(deposit);
    await world.settled(last);
    expect(await coin()).toMatchObject([{ source_deposit_id: last.deposit_id, reversed: false }]);
  });

  it('stays with the transaction that spends it', async () => {
    const deposit = await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.run();
    const later = again(deposit);
    await world.reversed(deposit.payload);
    await world.settled(later);
    expect(
      await world.db.rows(`select source_deposit_id, state from coins where branch = 'deposit'`),
    ).toEqual([{ source_deposit_id: later.deposit_id, state: 'locked' }]);
    const holding = (id: string) => world.db.one(`select state from holdings where deposit_id = $1`, [id]);
    expect(await holding(later.deposit_id)).toEqual({ state: 'sweeping' });
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(await holding(later.deposit_id)).toEqual({ state: 'swept' });
  });
});

/** Everything that was signed and is in no block, in a block of its own; whatever else waits. */
const mineRaw = (raw: readonly string[]) =>
  world.node.rpc('generateblock', `raw(6a08${randomBytes(8).toString('hex')})`, raw);

describe('a node that cannot be trusted to answer', () => {
  it('takes a transaction and its answer is lost: the same bytes again, one payment', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    world.onBroadcast = async (_raw, send) => {
      await send();
      return 'unknown';
    };
    await world.run();
    expect(await world.statusOf(payout)).toBe('signed');
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(await world.transactions()).toHaveLength(1);
  });

  it.each(['unknown', 'rejected'] as const)(
    'never sees the bytes (%s): they are sent until it does',
    async (answer) => {
      await world.deposit(BITCOIN);
      const payout = await world.reserve(BITCOIN / 4n);
      world.onBroadcast = async () => answer;
      await world.run();
      await world.node.mine(CONFIRMATIONS);
      await world.run();
      await world.run();
      expect(await world.statusOf(payout)).toBe('signed');
      expect(world.sent.length).toBeGreaterThan(1);
      world.onBroadcast = (_raw, send) => send();
      await world.finish();
      expect(await world.statusOf(payout)).toBe('mined');
      expect(new Set(world.sent).size).toBe(1);
    },
  );

  it('loses its pool: to be thrown out is no end, the same bytes again', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.run();
    world.node.kill();
    await world.node.restart();
    expect(await world.node.rpc('getrawmempool')).toEqual([]);
    world.clock.advance(10 * 60_000);
    await world.run();
    expect(await world.statusOf(payout)).toBe('broadcast');
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(new Set(world.sent).size).toBe(1);
  });
});

describe('a reorganisation', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'of %s blocks drops a payout: the same bytes are mined again',
    async (depth) => {
      await world.deposit(BITCOIN);
      const payout = await world.reserve(BITCOIN / 4n, undefined, 8);
      await world.run();
      await world.node.mine(depth);
      await world.run();
      expect((await world.coins()).find(({ branch }) => branch === 'change')?.state).toBe('available');
      await world.node.reorganise(depth);
      await world.run();
      expect((await world.coins()).find(({ branch }) => branch === 'change')?.state).toBe('coming');
      expect(await world.statusOf(payout)).toBe('broadcast');
      for (let i = 0; i < 3; i++) {
        await world.run();
        await world.node.mine(4);
      }
      await world.run();
      expect(await world.statusOf(payout)).toBe('mined');
      expect(new Set(world.sent).size).toBe(1);
    },
  );

  it('or a block is not remembered by half: change of what is in a block can be spent', async () => {
    await world.deposit(BITCOIN);
    await world.reserve(BITCOIN / 4n);
    await world.run();
    await world.node.mine(1);
    const refusing = <Q extends Queryable>(of: Q): Q => ({
      ...of,
      rows: async (sql, values) => {
        if (typeof sql !== 'string' && sql.name === 'coins_change_in_block') throw new Error('no');
        return of.rows(sql, values);
      },
    });
    const db = {
      ...refusing(world.db),
      transaction: <T>(work: (trx: Trx) => Promise<T>) => world.db.transaction((trx) => work(refusing(trx))),
    };
    await expect(world.run({ ...world.ports, db })).rejects.toThrow('no');
    await world.run();
    expect((await world.coins()).find(({ branch }) => branch === 'change')?.state).toBe('available');
  });

  it('that drops a payout and the one that spends its change: both come again', async () => {
    await world.deposit(BITCOIN);
    const first = await world.reserve(BITCOIN / 4n);
    await world.run();
    await world.node.mine(1);
    const second = await world.reserve(BITCOIN / 4n);
    await world.run();
    await world.node.mine(1);
    await world.run();
    await world.node.reorganise(2);
    world.node.kill();
    await world.node.restart();
    await world.run();
    await world.finish();
    expect([await world.statusOf(first), await world.statusOf(second)]).toEqual(['mined', 'mined']);
    expect(await world.transactions()).toHaveLength(2);
  });

  it('deeper than was waited for: a settled payout is sent again', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    const above = (await world.height()) - Number(await lowestBlock()); // tidy-allow number: a height
    await world.node.reorganise(above + 1);
    world.node.kill();
    await world.node.restart();
    await world.db.rows(`update transactions set looked_at = null`);
    await world.run();
    await world.node.mine(1);
    expect(await world.paidTo(payout.to)).toHaveLength(1);
  });

  it('of blocks that were final: a settled payout is sent again', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.finish();
    await world.node.mine(101);
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject([{ state: 'mined', final_at: expect.any(Date) }]);
    const above = (await world.height()) - Number(await lowestBlock()); // tidy-allow number: a height
    await world.node.reorganise(above + 1);
    world.node.kill();
    await world.node.restart();
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject([{ missing_since: expect.any(Date) }]);
    await world.node.mine(1);
    expect(await world.paidTo(payout.to)).toHaveLength(1);
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject([{ state: 'mined', missing_since: null }]);
  });

  it('is not seen where a node is merely behind: a payout that was final is not sent again', async () => {
    await world.deposit(BITCOIN);
    await world.reserve(BITCOIN / 4n);
    await world.finish();
    await world.node.mine(101);
    await watchEnded(world.ports, 0);
    const settled = [{ state: 'mined', missing_since: null, final_at: expect.any(Date), broadcasts: 1 }];
    expect(await world.transactions()).toMatchObject(settled);
    const unread = await world.node.rpc('getblockhash', Number(await lowestBlock())); // tidy-allow number: a height
    await world.node.rpc('invalidateblock', unread);
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject(settled);
    await world.node.rpc('reconsiderblock', unread);
    await watchEnded(world.ports, 0);
    expect(await world.transactions()).toMatchObject(settled);
  });

  const lowestBlock = async () =>
    (await world.db.one<{ height: string }>('select min(block_height) as height from transactions')).height;
});

describe('a fee that is too low', () => {
  /** A payout that waits for longer than one should, and then for a higher fee. */
  async function bumped(deposits: readonly bigint[], satoshi: bigint) {
    for (const amount of deposits) await world.deposit(amount);
    const payout = await world.reserve(satoshi);
    await world.run();
    world.clock.advance(21 * 60_000);
    await world.run();
    const [old, next] = await world.transactions();
    expect([old?.state, next?.state, next?.attempt]).toEqual(['broadcast', 'broadcast', 2]);
    expect(await world.node.rpc('getrawmempool')).toEqual([next?.tx_hash]);
    expect(await world.payout(payout.id)).toMatchObject({ tx_hash: next?.tx_hash });
    return { payout, old, next };
  }

  it('is raised, and the new one is mined', async () => {
    const { payout, next } = await bumped([BITCOIN], BITCOIN / 4n);
    await world.finish();
    expect(await world.payout(payout.id)).toMatchObject({ status: 'mined', tx_hash: next?.tx_hash });
    expect((await world.transactions()).map(({ state }) => state)).toEqual(['dead', 'mined']);
    expect(await world.spent()).toMatchObject([{ tx_hash: next?.tx_hash }]);
    expect(await world.announced(payout)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const change = (await world.coins()).filter(({ branch }) => branch === 'change');
    expect(change.map(({ reversed_at }) => reversed_at === null).sort()).toEqual([false, true]);
  });

  it('is raised, and a miner takes the old one all the same', async () => {
    const { payout, old } = await bumped([BITCOIN], BITCOIN / 4n);
    await mineRaw([old?.raw ?? '']);
    await world.node.mine(CONFIRMATIONS - 1);
    await world.run();
    expect(await world.payout(payout.id)).toMatchObject({ status: 'mined', tx_hash: old?.tx_hash });
    expect((await world.transactions()).map(({ state }) => state)).toEqual(['mined', 'dead']);
    expect(await world.spent()).toMatchObject([{ tx_hash: old?.tx_hash }]);
  });

  it('is raised with one more UTXO, which is available again when the old transaction is mined', async () => {
    // Without change: what the fee takes more has to come from elsewhere.
    const { payout, old } = await bumped([BITCOIN, 50_000n], BITCOIN - 500n);
    expect(
      (await world.coins()).filter(({ branch, state }) => branch === 'deposit' && state === 'locked'),
    ).toHaveLength(2);
    await mineRaw([old?.raw ?? '']);
    await world.node.mine(CONFIRMATIONS);
    await world.run();
    expect(await world.statusOf(payout)).toBe('mined');
    const deposits = (await world.coins()).filter(({ branch }) => branch === 'deposit');
    expect(deposits.map(({ amount, state }) => [amount, state]).sort()).toEqual([
      ['100000000', 'spent'],
      ['50000', 'available'],
    ]);
  });

  it('is raised with one more UTXO, and a deep reorganisation changes which of the two is mined, and back', async () => {
    const { payout, old, next } = await bumped([BITCOIN, 50_000n], BITCOIN - 500n);
    const books = async () =>
      (await world.coins())
        .map(
          ({ branch, state, reversed_at }) => `${branch} ${state}${reversed_at === null ? '' : ' reversed'}`,
        )
        .sort();
    const look = async () => {
      await world.db.rows('update transactions set looked_at = null');
      // What the books call free is spent in the chain, until the transaction has been looked at.
      await world.run();
      await world.run();
      expect(world.ports.signingPause.reason).toBeUndefined();
    };
    await mineRaw([old?.raw ?? '']);
    await world.node.mine(CONFIRMATIONS - 1);
    await world.run();
    expect(await world.statusOf(payout)).toBe('mined');
    const ofOld = ['change coming reversed', 'deposit available', 'deposit spent'];
    expect(await books()).toEqual(ofOld);

    await world.node.reorganise(CONFIRMATIONS, [[next?.raw ?? '']]);
    await look();
    expect(await books()).toEqual(['change available', 'deposit spent', 'deposit spent']);
    expect(await world.db.rows('select distinct state from holdings')).toEqual([{ state: 'swept' }]);
    await look();
    expect(await books()).toEqual(['change available', 'deposit spent', 'deposit spent']);

    await world.node.reorganise((await world.height()) - (await heightOf(next)) + 1, [[old?.raw ?? '']]);
    await look();
    expect(await books()).toEqual(ofOld);
  });

  const heightOf = async (transaction: { tx_hash: string } | undefined): Promise<number> => {
    const status = await world.sender.status(transaction?.tx_hash ?? '');
    return status.state === 'mined' ? status.height : 0;
  };

  it('is raised by a transaction that the node does not hear of at first: it is sent until it does', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.run();
    world.clock.advance(21 * 60_000);
    world.onBroadcast = async () => 'unknown';
    await world.run();
    const [old, next] = await world.transactions();
    expect(await world.node.rpc('getrawmempool')).toEqual([old?.tx_hash]);
    world.onBroadcast = (_raw, send) => send();
    await world.run();
    await world.run();
    expect(await world.node.rpc('getrawmempool')).toEqual([next?.tx_hash]);
    await world.finish();
    expect(await world.payout(payout.id)).toMatchObject({ tx_hash: next?.tx_hash });
  });

  it('is raised again and again, but not for ever', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    for (let i = 0; i < 12; i++) {
      await world.run();
      world.clock.advance(21 * 60_000);
    }
    const attempts = await world.transactions();
    expect(attempts).toHaveLength(8);
    await world.finish();
    expect(await world.payout(payout.id)).toMatchObject({ tx_hash: attempts.at(-1)?.tx_hash });
  });

  it('is not raised for a price that its recipient makes', async () => {
    await world.deposit(BITCOIN);
    const index = 5_000_000;
    const payout = await world.reserve(BITCOIN / 4n, world.wallet.address('deposit', index));
    await world.run();
    const [first] = await world.transactions();
    // What spends the payment pays a fee that a replacement would have to pay as well.
    const { raw } = world.sender.signSpend({
      coins: [{ outpoint: `${first?.tx_hash}:0`, branch: 'deposit', index, amount: units(payout.amount) }],
      recipients: [{ to: world.newRecipient(), amount: units(payout.amount - 50_000n) }],
      change: null,
      fee: units(50_000n),
    });
    await world.node.rpc('sendrawtransaction', raw);
    world.clock.advance(21 * 60_000);
    await world.run();
    expect(await world.transactions()).toHaveLength(1);
    expect(world.lines).toContainEqual(expect.objectContaining({ why: 'too_dear' }));
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
  });

  it('is not raised when its change is spent by another payout', async () => {
    await world.deposit(BITCOIN);
    const first = await world.reserve(BITCOIN / 4n);
    await world.run();
    await world.node.mine(1);
    const second = await world.reserve(BITCOIN / 4n);
    await world.run();
    await world.node.reorganise(1);
    await world.run();
    world.clock.advance(21 * 60_000);
    await world.run();
    const attempts = (await world.transactions()).map(({ family, attempt }) => [family, attempt]);
    // The second one may: nothing hangs on it.
    expect(attempts.filter(([, attempt]) => attempt === 2)).toHaveLength(1);
    await world.finish();
    expect([await world.statusOf(first), await world.statusOf(second)]).toEqual(['mined', 'mined']);
  });
});

describe('a UTXO that another party spends', () => {
  /** Signs with the key of a deposit, as somebody who has it too. */
  function elsewhere(deposit: Deposit): string {
    return world.sender.signSpend({
      coins: [
        {
          outpoint: deposit.outpoint,
          branch: 'deposit',
          index: deposit.index,
          amount: units(deposit.amount),
        },
      ],
      recipients: [{ to: world.newRecipient(), amount: units(deposit.amount - 50_000n) }],
      change: null,
      fee: units(50_000n),
    }).raw;
  }

  it('fails the payout when that is six blocks deep, and not a block earlier', async () => {
    const deposit = await world.deposit(BITCOIN);
    const other = await world.deposit(BITCOIN / 2n);
    const payout = await world.reserve((BITCOIN * 5n) / 4n);
    await world.run();
    await mineRaw([elsewhere(deposit)]);
    await world.node.mine(PROOF_CONFIRMATIONS - 2);
    for (let i = 0; i < 15; i++) await world.run();
    expect(await world.statusOf(payout)).toBe('broadcast');
    expect(await world.announced(payout)).toEqual(['payout.created']);
    await world.node.mine(1);
    await world.run();
    await world.run();
    expect(await world.statusOf(payout)).toBe('failed');
    expect(await world.announced(payout)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    const coins = await world.coins();
    const stateOf = (outpoint: string) => coins.find((coin) => coin.outpoint === outpoint);
    expect(stateOf(other.outpoint)).toMatchObject({ state: 'available', reversed_at: null });
    expect(stateOf(deposit.outpoint)).toMatchObject({ state: 'available', reversed_at: expect.any(Date) });
    const again = await world.reserve(BITCOIN / 4n);
    await world.finish();
    expect(await world.statusOf(again)).toBe('mined');
  });

  it('does not make other payouts wait for change that may never come', async () => {
    const deposit = await world.deposit(BITCOIN);
    const lost = await world.reserve(BITCOIN / 4n);
    await world.run();
    await mineRaw([elsewhere(deposit)]);
    await world.deposit(BITCOIN / 10n);
    const larger = await world.reserve(BITCOIN / 2n);
    const small = await world.reserve(BITCOIN / 20n);
    await world.run();
    await world.run();
    expect(await world.statusOf(small)).toBe('broadcast');
    expect([await world.statusOf(lost), await world.statusOf(larger)]).toEqual(['broadcast', 'reserved']);
  });

  it('in a block that is dropped again fails nothing', async () => {
    const deposit = await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.run();
    await mineRaw([elsewhere(deposit)]);
    await world.node.mine(1);
    for (let i = 0; i < 15; i++) await world.run();
    await world.node.reorganise(2);
    await world.node.rpc(
      'prioritisetransaction',
      (await world.node.rpc<string[]>('getrawmempool'))[0],
      0,
      -1_000_000,
    );
    world.node.kill();
    await world.node.restart();
    await world.run();
    await world.run();
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
  });

  it('before anything is signed with it stops everything, until an operator decides', async () => {
    const deposit = await world.deposit(BITCOIN);
    await mineRaw([elsewhere(deposit)]);
    const payout = await world.reserve(BITCOIN / 4n);
    await world.run();
    expect(await world.statusOf(payout)).toBe('reserved');
    expect(world.ports.signingPause.reason).toMatch(/does not know/);
    expect(world.lines).toContainEqual(expect.objectContaining({ msg: 'nothing is signed' }));
    await world.db.rows(`update coins set reversed_at = now() where outpoint = $1`, [deposit.outpoint]);
    await world.deposit(BITCOIN);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
  });
});

describe('a deposit that is double-spent', () => {
  it('under a payout that waits: the payout fails when that is proved', async () => {
    const customer = await world.deposit(3n * BITCOIN, { settled: false });
    // The customer is somebody whose UTXO we can spend twice.
    const index = customer.index + 1_000_000;
    const spend = (to: string, fee: bigint) =>
      world.sender.signSpend({
        coins: [
          {
            outpoint: customer.outpoint,
            branch: 'deposit',
            index: customer.index,
            amount: units(customer.amount),
          },
        ],
        recipients: [{ to, amount: units(customer.amount - fee) }],
        change: null,
        fee: units(fee),
      });
    const paysUs = spend(world.wallet.address('deposit', index), 1_000n);
    const paysThem = spend(world.newRecipient(), 2_000n);
    await mineRaw([paysUs.raw]);
    await world.node.mine(1);
    await world.settled({
      ...customer.payload,
      deposit_id: newDepositId(new Date()),
      amount: (customer.amount - 1_000n).toString(),
      address: world.wallet.address('deposit', index),
      derivation_index: index,
      outpoint: `${paysUs.txHash}:0`,
    });
    const payout = await world.reserve(BITCOIN);
    await world.run();
    expect(await world.statusOf(payout)).toBe('broadcast');
    await world.node.reorganise(2, [[paysThem.raw]]);
    expect(await world.node.rpc('getrawmempool')).toEqual([]);
    await world.node.mine(PROOF_CONFIRMATIONS);
    for (let i = 0; i < 15; i++) await world.run();
    expect(await world.statusOf(payout)).toBe('failed');
    expect(await world.coins()).toContainEqual(
      expect.objectContaining({
        outpoint: `${paysUs.txHash}:0`,
        state: 'available',
        reversed_at: expect.any(Date),
      }),
    );
  });

  it('and planned with is left out: others are used', async () => {
    await world.deposit(BITCOIN);
    const absent = await world.deposit(2n * BITCOIN, { settled: false });
    await world.settled({ ...absent.payload, outpoint: `${'ab'.repeat(32)}:0` });
    const payout = await world.reserve(BITCOIN / 4n);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(world.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'the chain does not have these UTXOs' }),
    );
    await world.db.rows(`update coins set reversed_at = now() where outpoint like 'abab%'`);
  });
});

describe('two processes', () => {
  it('one that lost its lease in its sleep signs nothing', async () => {
    await world.deposit(BITCOIN);
    const payout = await world.reserve(BITCOIN / 4n);
    const sleeper = world.replica({
      sender: {
        ...world.sender,
        feeRate: async () => {
          // Another one takes over while this one sleeps.
          await world.db.rows(`update leases set expires_at = now() - interval '1 second'`);
          await world.run(world.replica());
          return world.sender.feeRate();
        },
      },
    });
    expect(await world.run(sleeper)).toBe(0);
    expect(await world.transactions()).toHaveLength(1);
    await world.db.rows(`update leases set expires_at = now() - interval '1 second'`);
    await world.finish();
    expect(await world.statusOf(payout)).toBe('mined');
    expect(await world.transactions()).toHaveLength(1);
  });

  it('with another seed sign nothing for the same database', async () => {
    await world.deposit(BITCOIN);
    await world.reserve(BITCOIN / 4n);
    await world.run();
    const mismatched = world.replica({ sender: { ...world.sender, hotAddress: world.newRecipient() } });
    expect(await world.run(mismatched)).toBe(0);
    expect(mismatched.signingPause.reason).toMatch(/WALLET_SEED/);
  });
});
