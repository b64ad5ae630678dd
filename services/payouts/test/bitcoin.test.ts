import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Queryable, Trx } from '@quittance/shared/db';
import { newDepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { watchEnded } from '../src/operations/watch-ended.ts';
import {
  BITCOIN,
  type BitcoinEngines,
  BitcoinFixture,
  bitcoinEngines,
  CONFIRMATIONS,
  type Deposit,
} from './bitcoin-fixture.ts';

/** Fewer confirmations do not prove that a payment can never be mined. */
const PROOF_CONFIRMATIONS = 6;

/** The chain worker on a real Bitcoin node, stepped by hand. */
let engines: BitcoinEngines;
let fixture: BitcoinFixture;

beforeAll(async () => {
  engines = await bitcoinEngines();
});
afterAll(() => engines?.stop());
beforeEach(async () => {
  fixture = await BitcoinFixture.fresh(engines);
});
afterEach(async () => {
  try {
    await fixture.expectSound();
  } finally {
    await fixture.close();
  }
});

describe('a payout', () => {
  it('is paid from a deposit, and the rest returns as change', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    const [transaction] = await fixture.transactions();
    expect((await fixture.utxos()).map(({ branch, state }) => [branch, state])).toEqual([
      ['deposit', 'locked'],
      ['change', 'incoming'],
    ]);
    await fixture.node.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    await fixture.node.mine(1);
    await fixture.run();
    expect(await fixture.payout(payout.id)).toMatchObject({ status: 'mined', tx_hash: transaction?.tx_hash });
    expect(await fixture.published(payout)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const [deposit, change] = await fixture.utxos();
    expect([deposit?.state, change?.state]).toEqual(['spent', 'available']);
    const [spent] = await fixture.spent();
    expect(BigInt(change?.amount ?? 0) + BigInt(spent?.amount ?? 0) + payout.amount).toBe(BITCOIN);
    expect(await fixture.db.rows('select state from unswept_deposits')).toEqual([{ state: 'swept' }]);
    await fixture.run();
    expect(await fixture.spent()).toEqual([{ tx_hash: transaction?.tx_hash, amount: '282' }]);
  });

  it('spends as many UTXOs as it needs', async () => {
    for (let i = 0; i < 4; i++) await fixture.deposit(BITCOIN / 10n);
    const payout = await fixture.reserve((BITCOIN * 35n) / 100n);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect((await fixture.utxos()).filter(({ state }) => state === 'spent')).toHaveLength(4);
  });

  it('shares a transaction with others, and each has its own output', async () => {
    await fixture.deposit(BITCOIN);
    const payouts = [];
    // Two payouts of the same amount to the same address are two outputs.
    for (let i = 1n; i <= 10n; i++) payouts.push(await fixture.reserve(i * 10_000n));
    await fixture.finish();
    for (const payout of payouts) expect(await fixture.statusOf(payout)).toBe('mined');
    const [transaction, ...others] = await fixture.transactions();
    expect(others).toEqual([]);
    const rows = await fixture.db.rows<{ payout_id: string; output_index: number }>(
      'select payout_id, output_index from payments order by output_index',
    );
    expect(rows.map((row) => row.payout_id)).toEqual(payouts.map(({ id }) => id));
    for (const [n, { to, amount }] of payouts.entries()) {
      expect(await fixture.paidTo(to)).toMatchObject([{ outpoint: `${transaction?.tx_hash}:${n}`, amount }]);
    }
    expect(await fixture.spent()).toHaveLength(1);
  });

  it('waits a moment to share its transaction with others', async () => {
    await fixture.deposit(BITCOIN);
    await fixture.reserve(10_000n);
    fixture.clock.advance(-60_000);
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    fixture.clock.advance(60_000);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
  });

  it('waits for change until a block includes it, and is paid from it', async () => {
    await fixture.deposit(BITCOIN);
    const first = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    const second = await fixture.reserve(BITCOIN / 2n);
    await fixture.run();
    expect([await fixture.statusOf(first), await fixture.statusOf(second)]).toEqual([
      'broadcast',
      'reserved',
    ]);
    await fixture.node.mine(1);
    await fixture.run();
    expect(await fixture.statusOf(second)).toBe('broadcast');
    await fixture.finish();
    expect([await fixture.statusOf(first), await fixture.statusOf(second)]).toEqual(['mined', 'mined']);
    expect(await fixture.spent()).toHaveLength(2);
  });

  it('that all UTXOs do not cover is skipped, and an error is logged', async () => {
    await fixture.deposit(BITCOIN);
    const large = await fixture.reserve(2n * BITCOIN);
    const small = await fixture.reserve(BITCOIN / 2n);
    await fixture.finish();
    expect([await fixture.statusOf(large), await fixture.statusOf(small)]).toEqual(['reserved', 'mined']);
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'error', asset: 'BTC', has: '1', needs: '2', payouts: 1 }),
    );
    await fixture.deposit(2n * BITCOIN);
    await fixture.finish();
    expect(await fixture.statusOf(large)).toBe('mined');
  });

  it('of the whole balance waits for money for the fee', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('reserved');
    await fixture.deposit(10_000n);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(await fixture.spent()).toMatchObject([{ amount: expect.stringMatching(/^\d{3,5}$/) }]);
  });

  it('whose fee is not covered does not delay smaller payouts', async () => {
    await fixture.deposit(BITCOIN);
    const all = await fixture.reserve(BITCOIN);
    const small = await fixture.reserve(BITCOIN / 2n);
    await fixture.finish();
    expect([await fixture.statusOf(all), await fixture.statusOf(small)]).toEqual(['reserved', 'mined']);
  });

  it('that needs more UTXOs than one transaction can spend is paid after they are merged', async () => {
    await fixture.depositMany(250, 10_000n);
    const payout = await fixture.reserve(2_400_000n);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('reserved');
    const [merge] = await fixture.transactions();
    expect(merge).toMatchObject({ purpose: 'sweep', state: 'broadcast' });
    // One merge at a time.
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(await fixture.transactions()).toHaveLength(2);
    expect(await fixture.spent()).toHaveLength(2);
    const left = (
      await fixture.db.rows<{ state: string }>('select distinct state from unswept_deposits')
    ).map(({ state }) => state);
    expect(left.sort()).toEqual(['held', 'swept']);
  });

  it('whose fee needs more UTXOs than one transaction can spend is paid after they are merged', async () => {
    await fixture.depositMany(200, 10_000n);
    await fixture.depositMany(50, 9_000n);
    const payout = await fixture.reserve(1_999_000n);
    const small = await fixture.reserve(10_000n);
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
    await fixture.finish();
    expect([await fixture.statusOf(payout), await fixture.statusOf(small)]).toEqual(['mined', 'mined']);
    expect(await fixture.spent()).toHaveLength(2);
  });

  it('whose UTXOs cannot be merged at this fee does not delay others', async () => {
    await fixture.depositMany(200, 100_000n);
    await fixture.depositMany(50, 90_000n);
    const sender = { ...fixture.sender, feeRate: async () => 400n };
    const payouts = [await fixture.reserve(19_990_000n), await fixture.reserve(21_000_000n)];
    const small = await fixture.reserve(1_000_000n);
    await fixture.run(fixture.replica({ sender }));
    expect(await Promise.all(payouts.map((one) => fixture.statusOf(one)))).toEqual(['reserved', 'reserved']);
    expect(await fixture.statusOf(small)).toBe('broadcast');
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'error', asset: 'BTC', payouts: 1 }),
    );
  });

  it('does not spend or merge UTXOs that cost more to spend than their amount', async () => {
    await fixture.depositMany(199, 10_000n);
    await fixture.depositMany(61, 600n);
    const payout = await fixture.reserve(1_993_000n);
    await fixture.run(fixture.replica({ sender: { ...fixture.sender, feeRate: async () => 10n } }));
    expect(await fixture.statusOf(payout)).toBe('reserved');
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'error', has: '0.0199', needs: '0.01993' }),
    );
  });

  it('of dust is refused, and does not delay others', async () => {
    await fixture.deposit(BITCOIN);
    const dust = await fixture.reserve(545n);
    const other = await fixture.reserve(546n);
    await fixture.finish();
    expect([await fixture.statusOf(dust), await fixture.statusOf(other)]).toEqual(['failed', 'mined']);
    expect(await fixture.published(dust)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
  });

  it('is paid from money that an operator sent to the hot address', async () => {
    await fixture.node.pay(fixture.wallet.hotAddress, '0.5');
    await fixture.node.mine(1);
    await fixture.run();
    // The first round finds all unspent outputs.
    expect((await fixture.utxos()).map(({ branch, amount }) => [branch, amount])).toEqual([
      ['hot', '50000000'],
    ]);
    await fixture.node.pay(fixture.wallet.hotAddress, '0.7');
    await fixture.node.mine(5);
    await fixture.run();
    expect(await fixture.utxos()).toHaveLength(1);
    await fixture.node.mine(1);
    await fixture.run();
    expect(await fixture.utxos()).toHaveLength(2);
    const payout = await fixture.reserve(BITCOIN);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
  });

  it('never spends a UTXO whose deposit was reversed, in whichever order the events arrive', async () => {
    const [settled, never, stays] = [
      await fixture.deposit(5n * BITCOIN),
      await fixture.deposit(6n * BITCOIN, { settled: false }),
      await fixture.deposit(BITCOIN),
    ];
    await fixture.reversed(settled.payload);
    await fixture.reversed(never.payload);
    await fixture.settled(never.payload);
    const payout = await fixture.reserve(BITCOIN / 2n);
    const large = await fixture.reserve(2n * BITCOIN);
    await fixture.finish();
    expect([await fixture.statusOf(payout), await fixture.statusOf(large)]).toEqual(['mined', 'reserved']);
    const spent = (await fixture.utxos()).filter(({ state }) => state === 'spent');
    expect(spent.map(({ outpoint }) => outpoint)).toEqual([stays.outpoint]);
  });
});

describe('a deposit whose block was dropped and that is mined again as another deposit', () => {
  const again = ({ payload }: Deposit) => ({ ...payload, deposit_id: newDepositId(new Date()) });
  const utxo = () =>
    fixture.db.rows('select source_deposit_id, state, reversed_at is not null as reversed from utxos');

  it('is spent like any other, and a late event of the earlier one changes nothing', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const later = again(deposit);
    await fixture.reversed(deposit.payload);
    await fixture.settled(later);
    const standing = [{ source_deposit_id: later.deposit_id, state: 'available', reversed: false }];
    expect(await utxo()).toEqual(standing);
    await fixture.reversed(deposit.payload);
    await fixture.settled(deposit.payload);
    expect(await utxo()).toEqual(standing);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(
      await fixture.db.rows(
        'select deposit_id, state, reversed_at is not null as reversed from unswept_deposits',
      ),
    ).toEqual(
      expect.arrayContaining([
        { deposit_id: deposit.payload.deposit_id, state: 'held', reversed: true },
        { deposit_id: later.deposit_id, state: 'swept', reversed: false },
      ]),
    );
  });

  it('waits for the reversal of the earlier one', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const later = again(deposit);
    await expect(fixture.settled(later)).rejects.toThrow('one deposit for each output');
    expect(await fixture.db.rows('select deposit_id from unswept_deposits')).toHaveLength(1);
    await fixture.reversed(deposit.payload);
    await fixture.settled(later);
    expect(await utxo()).toMatchObject([{ source_deposit_id: later.deposit_id, reversed: false }]);
  });

  it('is reversed as well, in whichever order the events arrive', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const later = again(deposit);
    await fixture.reversed(later);
    expect(await utxo()).toMatchObject([{ source_deposit_id: deposit.payload.deposit_id, reversed: false }]);
    await fixture.reversed(deposit.payload);
    await fixture.settled(later);
    expect(await utxo()).toMatchObject([{ reversed: true }]);
    const last = again(deposit);
    await fixture.settled(last);
    expect(await utxo()).toMatchObject([{ source_deposit_id: last.deposit_id, reversed: false }]);
  });

  it('stays with the transaction that spends it', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    const later = again(deposit);
    await fixture.reversed(deposit.payload);
    await fixture.settled(later);
    expect(
      await fixture.db.rows(`select source_deposit_id, state from utxos where branch = 'deposit'`),
    ).toEqual([{ source_deposit_id: later.deposit_id, state: 'locked' }]);
    const unswept = (id: string) =>
      fixture.db.one(`select state from unswept_deposits where deposit_id = $1`, [id]);
    expect(await unswept(later.deposit_id)).toEqual({ state: 'sweeping' });
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(await unswept(later.deposit_id)).toEqual({ state: 'swept' });
  });
});

/** Mines a block with all signed transactions that no block includes, and nothing else. */
const mineRaw = (raw: readonly string[]) =>
  fixture.node.rpc('generateblock', `raw(6a08${randomBytes(8).toString('hex')})`, raw);

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
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    fixture.node.kill();
    await fixture.node.restart();
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
      await fixture.deposit(BITCOIN);
      const payout = await fixture.reserve(BITCOIN / 4n, undefined, 8);
      await fixture.run();
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
    await fixture.deposit(BITCOIN);
    await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
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
    await fixture.deposit(BITCOIN);
    const first = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await fixture.node.mine(1);
    const second = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await fixture.node.mine(1);
    await fixture.run();
    await fixture.node.reorganise(2);
    fixture.node.kill();
    await fixture.node.restart();
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
    const above = (await fixture.height()) - Number(await lowestBlock()); // eslint-disable-line no-restricted-syntax -- a height
    await fixture.node.reorganise(above + 1);
    fixture.node.kill();
    await fixture.node.restart();
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
    const above = (await fixture.height()) - Number(await lowestBlock()); // eslint-disable-line no-restricted-syntax -- a height
    await fixture.node.reorganise(above + 1);
    fixture.node.kill();
    await fixture.node.restart();
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
    const unread = await fixture.node.rpc('getblockhash', Number(await lowestBlock())); // eslint-disable-line no-restricted-syntax -- a height
    await fixture.node.rpc('invalidateblock', unread);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject(settled);
    await fixture.node.rpc('reconsiderblock', unread);
    await watchEnded(fixture.ports, 0);
    expect(await fixture.transactions()).toMatchObject(settled);
  });

  const lowestBlock = async () =>
    (await fixture.db.one<{ height: string }>('select min(block_height) as height from transactions')).height;
});

describe('a fee that is too low', () => {
  /** A payout that waits too long, so that its fee is raised. */
  async function bumped(deposits: readonly bigint[], satoshi: bigint) {
    for (const amount of deposits) await fixture.deposit(amount);
    const payout = await fixture.reserve(satoshi);
    await fixture.run();
    fixture.clock.advance(21 * 60_000);
    await fixture.run();
    const [old, next] = await fixture.transactions();
    expect([old?.state, next?.state, next?.attempt]).toEqual(['broadcast', 'broadcast', 2]);
    expect(await fixture.node.rpc('getrawmempool')).toEqual([next?.tx_hash]);
    expect(await fixture.payout(payout.id)).toMatchObject({ tx_hash: next?.tx_hash });
    return { payout, old, next };
  }

  it('is raised, and the new transaction is mined', async () => {
    const { payout, next } = await bumped([BITCOIN], BITCOIN / 4n);
    await fixture.finish();
    expect(await fixture.payout(payout.id)).toMatchObject({ status: 'mined', tx_hash: next?.tx_hash });
    expect((await fixture.transactions()).map(({ state }) => state)).toEqual(['invalidated', 'mined']);
    expect(await fixture.spent()).toMatchObject([{ tx_hash: next?.tx_hash }]);
    expect(await fixture.published(payout)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const change = (await fixture.utxos()).filter(({ branch }) => branch === 'change');
    expect(change.map(({ reversed_at }) => reversed_at === null).sort()).toEqual([false, true]);
  });

  it('is raised, and a miner includes the former transaction all the same', async () => {
    const { payout, old } = await bumped([BITCOIN], BITCOIN / 4n);
    await mineRaw([old?.raw ?? '']);
    await fixture.node.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.payout(payout.id)).toMatchObject({ status: 'mined', tx_hash: old?.tx_hash });
    expect((await fixture.transactions()).map(({ state }) => state)).toEqual(['mined', 'invalidated']);
    expect(await fixture.spent()).toMatchObject([{ tx_hash: old?.tx_hash }]);
  });

  it('is raised with one more UTXO, which is available again when the old transaction is mined', async () => {
    // Without change, a higher fee must come from another UTXO.
    const { payout, old } = await bumped([BITCOIN, 50_000n], BITCOIN - 500n);
    expect(
      (await fixture.utxos()).filter(({ branch, state }) => branch === 'deposit' && state === 'locked'),
    ).toHaveLength(2);
    await mineRaw([old?.raw ?? '']);
    await fixture.node.mine(CONFIRMATIONS);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('mined');
    const deposits = (await fixture.utxos()).filter(({ branch }) => branch === 'deposit');
    expect(deposits.map(({ amount, state }) => [amount, state]).sort()).toEqual([
      ['100000000', 'spent'],
      ['50000', 'available'],
    ]);
  });

  it('is raised with one more UTXO, and deep reorganisations change twice which attempt is mined', async () => {
    const { payout, old, next } = await bumped([BITCOIN, 50_000n], BITCOIN - 500n);
    const books = async () =>
      (await fixture.utxos())
        .map(
          ({ branch, state, reversed_at }) => `${branch} ${state}${reversed_at === null ? '' : ' reversed'}`,
        )
        .sort();
    const look = async () => {
      await fixture.db.rows('update transactions set looked_at = null');
      // A UTXO is available in the database and spent in the chain until the transaction is checked.
      await fixture.run();
      await fixture.run();
      expect(fixture.ports.signingPause.reason).toBeUndefined();
    };
    await mineRaw([old?.raw ?? '']);
    await fixture.node.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('mined');
    const ofOld = ['change incoming reversed', 'deposit available', 'deposit spent'];
    expect(await books()).toEqual(ofOld);

    await fixture.node.reorganise(CONFIRMATIONS, [[next?.raw ?? '']]);
    await look();
    expect(await books()).toEqual(['change available', 'deposit spent', 'deposit spent']);
    expect(await fixture.db.rows('select distinct state from unswept_deposits')).toEqual([
      { state: 'swept' },
    ]);
    await look();
    expect(await books()).toEqual(['change available', 'deposit spent', 'deposit spent']);

    await fixture.node.reorganise((await fixture.height()) - (await heightOf(next)) + 1, [[old?.raw ?? '']]);
    await look();
    expect(await books()).toEqual(ofOld);
  });

  const heightOf = async (transaction: { tx_hash: string } | undefined): Promise<number> => {
    const status = await fixture.sender.status(transaction?.tx_hash ?? '');
    return status.state === 'mined' ? status.height : 0;
  };

  it('is raised by a transaction that is sent until the node has it', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    fixture.clock.advance(21 * 60_000);
    fixture.onBroadcast = async () => 'unknown';
    await fixture.run();
    const [old, next] = await fixture.transactions();
    expect(await fixture.node.rpc('getrawmempool')).toEqual([old?.tx_hash]);
    fixture.onBroadcast = (_raw, send) => send();
    await fixture.run();
    await fixture.run();
    expect(await fixture.node.rpc('getrawmempool')).toEqual([next?.tx_hash]);
    await fixture.finish();
    expect(await fixture.payout(payout.id)).toMatchObject({ tx_hash: next?.tx_hash });
  });

  it('is raised a limited number of times', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    for (let i = 0; i < 12; i++) {
      await fixture.run();
      fixture.clock.advance(21 * 60_000);
    }
    const attempts = await fixture.transactions();
    expect(attempts).toHaveLength(8);
    await fixture.finish();
    expect(await fixture.payout(payout.id)).toMatchObject({ tx_hash: attempts.at(-1)?.tx_hash });
  });

  it('is not raised to a fee that its recipient causes', async () => {
    await fixture.deposit(BITCOIN);
    const index = 5_000_000;
    const payout = await fixture.reserve(BITCOIN / 4n, fixture.wallet.address('deposit', index));
    await fixture.run();
    const [first] = await fixture.transactions();
    // A replacement would also have to pay the fee of the transaction that spends the payment.
    const { raw } = fixture.sender.signSpend({
      utxos: [{ outpoint: `${first?.tx_hash}:0`, branch: 'deposit', index, amount: units(payout.amount) }],
      recipients: [{ to: fixture.newRecipient(), amount: units(payout.amount - 50_000n) }],
      change: null,
      fee: units(50_000n),
    });
    await fixture.node.rpc('sendrawtransaction', raw);
    fixture.clock.advance(21 * 60_000);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
    expect(fixture.lines).toContainEqual(expect.objectContaining({ why: 'too_dear' }));
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
  });

  it('is not raised when its change is spent by another payout', async () => {
    await fixture.deposit(BITCOIN);
    const first = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await fixture.node.mine(1);
    const second = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await fixture.node.reorganise(1);
    await fixture.run();
    fixture.clock.advance(21 * 60_000);
    await fixture.run();
    const attempts = (await fixture.transactions()).map(({ replacement_group, attempt }) => [
      replacement_group,
      attempt,
    ]);
    // The second payout may be replaced, because its change is not spent.
    expect(attempts.filter(([, attempt]) => attempt === 2)).toHaveLength(1);
    await fixture.finish();
    expect([await fixture.statusOf(first), await fixture.statusOf(second)]).toEqual(['mined', 'mined']);
  });
});

describe('a UTXO that another party spends', () => {
  /** Signs with the key of a deposit, like another party that has the key. */
  function elsewhere(deposit: Deposit): string {
    return fixture.sender.signSpend({
      utxos: [
        {
          outpoint: deposit.outpoint,
          branch: 'deposit',
          index: deposit.index,
          amount: units(deposit.amount),
        },
      ],
      recipients: [{ to: fixture.newRecipient(), amount: units(deposit.amount - 50_000n) }],
      change: null,
      fee: units(50_000n),
    }).raw;
  }

  it('fails the payout when the spending transaction is six blocks deep, and not earlier', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const other = await fixture.deposit(BITCOIN / 2n);
    const payout = await fixture.reserve((BITCOIN * 5n) / 4n);
    await fixture.run();
    await mineRaw([elsewhere(deposit)]);
    await fixture.node.mine(PROOF_CONFIRMATIONS - 2);
    for (let i = 0; i < 15; i++) await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    expect(await fixture.published(payout)).toEqual(['payout.created']);
    await fixture.node.mine(1);
    await fixture.run();
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('failed');
    expect(await fixture.published(payout)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    const utxos = await fixture.utxos();
    const stateOf = (outpoint: string) => utxos.find((utxo) => utxo.outpoint === outpoint);
    expect(stateOf(other.outpoint)).toMatchObject({ state: 'available', reversed_at: null });
    expect(stateOf(deposit.outpoint)).toMatchObject({ state: 'available', reversed_at: expect.any(Date) });
    const again = await fixture.reserve(BITCOIN / 4n);
    await fixture.finish();
    expect(await fixture.statusOf(again)).toBe('mined');
  });

  it('does not make other payouts wait for change that may never come', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const lost = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await mineRaw([elsewhere(deposit)]);
    await fixture.deposit(BITCOIN / 10n);
    const larger = await fixture.reserve(BITCOIN / 2n);
    const small = await fixture.reserve(BITCOIN / 20n);
    await fixture.run();
    await fixture.run();
    expect(await fixture.statusOf(small)).toBe('broadcast');
    expect([await fixture.statusOf(lost), await fixture.statusOf(larger)]).toEqual(['broadcast', 'reserved']);
  });

  it('in a block that is dropped again fails no payout', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await mineRaw([elsewhere(deposit)]);
    await fixture.node.mine(1);
    for (let i = 0; i < 15; i++) await fixture.run();
    await fixture.node.reorganise(2);
    await fixture.node.rpc(
      'prioritisetransaction',
      (await fixture.node.rpc<string[]>('getrawmempool'))[0],
      0,
      -1_000_000,
    );
    fixture.node.kill();
    await fixture.node.restart();
    await fixture.run();
    await fixture.run();
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
  });

  it('before we sign with it pauses signing until an operator decides', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    await mineRaw([elsewhere(deposit)]);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('reserved');
    expect(fixture.ports.signingPause.reason).toMatch(/does not know/);
    expect(fixture.lines).toContainEqual(expect.objectContaining({ msg: 'nothing is signed' }));
    await fixture.db.rows(`update utxos set reversed_at = now() where outpoint = $1`, [deposit.outpoint]);
    await fixture.deposit(BITCOIN);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
  });
});

describe('a deposit that is double-spent', () => {
  it('fails a waiting payout that spends it when that is proved', async () => {
    const customer = await fixture.deposit(3n * BITCOIN, { settled: false });
    // The test can spend the customer's UTXO twice.
    const index = customer.index + 1_000_000;
    const spend = (to: string, fee: bigint) =>
      fixture.sender.signSpend({
        utxos: [
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
    const paysUs = spend(fixture.wallet.address('deposit', index), 1_000n);
    const paysThem = spend(fixture.newRecipient(), 2_000n);
    await mineRaw([paysUs.raw]);
    await fixture.node.mine(1);
    await fixture.settled({
      ...customer.payload,
      deposit_id: newDepositId(new Date()),
      amount: (customer.amount - 1_000n).toString(),
      address: fixture.wallet.address('deposit', index),
      derivation_index: index,
      outpoint: `${paysUs.txHash}:0`,
    });
    const payout = await fixture.reserve(BITCOIN);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    await fixture.node.reorganise(2, [[paysThem.raw]]);
    expect(await fixture.node.rpc('getrawmempool')).toEqual([]);
    await fixture.node.mine(PROOF_CONFIRMATIONS);
    for (let i = 0; i < 15; i++) await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('failed');
    expect(await fixture.utxos()).toContainEqual(
      expect.objectContaining({
        outpoint: `${paysUs.txHash}:0`,
        state: 'available',
        reversed_at: expect.any(Date),
      }),
    );
  });

  it('is left out of plans, and other UTXOs are spent', async () => {
    await fixture.deposit(BITCOIN);
    const absent = await fixture.deposit(2n * BITCOIN, { settled: false });
    await fixture.settled({ ...absent.payload, outpoint: `${'ab'.repeat(32)}:0` });
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'the chain does not have these UTXOs' }),
    );
    await fixture.db.rows(`update utxos set reversed_at = now() where outpoint like 'abab%'`);
  });
});

describe('two replicas', () => {
  it('sign nothing with a lease that was lost during a pause', async () => {
    await fixture.deposit(BITCOIN);
    const payout = await fixture.reserve(BITCOIN / 4n);
    const sleeper = fixture.replica({
      sender: {
        ...fixture.sender,
        feeRate: async () => {
          // Another replica takes the lease during the pause.
          await fixture.db.rows(`update leases set expires_at = now() - interval '1 second'`);
          await fixture.run(fixture.replica());
          return fixture.sender.feeRate();
        },
      },
    });
    expect(await fixture.run(sleeper)).toBe(0);
    expect(await fixture.transactions()).toHaveLength(1);
    await fixture.db.rows(`update leases set expires_at = now() - interval '1 second'`);
    await fixture.finish();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(await fixture.transactions()).toHaveLength(1);
  });

  it('sign nothing with another seed for the same database', async () => {
    await fixture.deposit(BITCOIN);
    await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    const mismatched = fixture.replica({ sender: { ...fixture.sender, hotAddress: fixture.newRecipient() } });
    expect(await fixture.run(mismatched)).toBe(0);
    expect(mismatched.signingPause.reason).toMatch(/WALLET_SEED/);
  });
});
