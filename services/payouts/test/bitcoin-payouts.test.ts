import { describe, expect, it } from '@jest/globals';
import { markCancelRequested } from '../src/store/cancellations.ts';
import { BITCOIN, bitcoinSuite, CONFIRMATIONS } from './bitcoin-fixture.ts';
import { halt, resume } from './chain-worker-fixture.ts';

/** Payouts from a real Bitcoin node, stepped by hand, and what delays them. */
const fixture = bitcoinSuite();

describe('a payout', () => {
  it('is paid from a deposit, and the rest returns as change', async () => {
    const payout = await fixture.send();
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
    expect(await fixture.published(payout.id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const [deposit, change] = await fixture.utxos();
    expect([deposit?.state, change?.state]).toEqual(['spent', 'available']);
    const [spent] = await fixture.spent();
    expect(BigInt(change?.amount ?? 0) + BigInt(spent?.amount ?? 0) + payout.amount).toBe(BITCOIN);
    expect(await fixture.db.rows('select state from unswept_deposits')).toEqual([{ state: 'swept' }]);
    await fixture.run();
    expect(await fixture.spent()).toMatchObject([{ tx_hash: transaction?.tx_hash, amount: '282' }]);
  });

  it('waits a moment to share its transaction with others, and each has its own output', async () => {
    await fixture.deposit(BITCOIN);
    const payouts = [];
    // Two payouts of the same amount to the same address are two outputs.
    for (let i = 1n; i <= 10n; i++) payouts.push(await fixture.reserve(i * 10_000n));
    fixture.clock.advance(-60_000);
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    fixture.clock.advance(60_000);
    await fixture.finish();
    expect(new Set(await fixture.statusesOf(...payouts))).toEqual(new Set(['mined']));
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

  it('waits for change until a block includes it, and is paid from it', async () => {
    const first = await fixture.send();
    const second = await fixture.reserve(BITCOIN / 2n);
    await fixture.run();
    expect(await fixture.statusesOf(first, second)).toEqual(['broadcast', 'reserved']);
    await fixture.node.mine(1);
    await fixture.run();
    expect(await fixture.statusOf(second)).toBe('broadcast');
    await fixture.expectPaid(first, second);
    expect(await fixture.spent()).toHaveLength(2);
  });

  it('that all UTXOs do not cover is skipped, and an error is logged', async () => {
    await fixture.deposit(BITCOIN);
    const large = await fixture.reserve(2n * BITCOIN);
    const small = await fixture.reserve(BITCOIN / 2n);
    await fixture.finish();
    expect(await fixture.statusesOf(large, small)).toEqual(['reserved', 'mined']);
    fixture.expectLogged({ level: 'error', asset: 'BTC', has: '1', needs: '2', payouts: 1 });
    await fixture.deposit(2n * BITCOIN);
    await fixture.expectPaid(large);
  });

  it('whose fee is not covered waits for money, and does not delay smaller payouts', async () => {
    await fixture.deposit(BITCOIN);
    const all = await fixture.reserve(BITCOIN);
    const small = await fixture.reserve(BITCOIN / 2n);
    await fixture.finish();
    expect(await fixture.statusesOf(all, small)).toEqual(['reserved', 'mined']);
    await fixture.deposit(BITCOIN);
    await fixture.expectPaid(all);
  });

  it.each([
    ['amount', [10_000n, 10_000n], 2_400_000n],
    ['fee', [10_000n, 9_000n], 1_999_000n],
  ] as const)(
    'whose %s needs more UTXOs than one transaction can spend is paid after they are merged',
    async (_, [many, few], satoshi) => {
      await fixture.depositMany(200, many);
      await fixture.depositMany(50, few);
      const payouts = [await fixture.reserve(satoshi), await fixture.reserve(10_000n)] as const;
      await fixture.run();
      expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
      // One merge at a time.
      await fixture.run();
      expect(await fixture.transactions()).toHaveLength(1);
      expect(await fixture.statusOf(payouts[0])).toBe('reserved');
      await fixture.node.mine(1);
      await fixture.run();
      await fixture.node.mine(CONFIRMATIONS);
      await fixture.run();
      expect(await fixture.statusesOf(...payouts)).toEqual(['mined', 'mined']);
      expect(await fixture.spent()).toHaveLength(2);
      const left = await fixture.db.rows('select distinct state from unswept_deposits order by 1');
      expect(left).toEqual([{ state: 'held' }, { state: 'swept' }]);
    },
  );

  it('whose UTXOs cannot be merged at this fee does not delay others', async () => {
    await fixture.depositMany(200, 100_000n);
    await fixture.depositMany(50, 90_000n);
    const sender = { ...fixture.sender, feeRate: async () => 400n };
    const payouts = [await fixture.reserve(19_990_000n), await fixture.reserve(21_000_000n)];
    const small = await fixture.reserve(1_000_000n);
    await fixture.run(fixture.replica({ sender }));
    expect(await fixture.statusesOf(...payouts)).toEqual(['reserved', 'reserved']);
    expect(await fixture.statusOf(small)).toBe('broadcast');
    fixture.expectLogged({ level: 'error', asset: 'BTC', payouts: 1 });
  });

  it('does not spend or merge UTXOs that cost more to spend than their amount', async () => {
    await fixture.depositMany(199, 10_000n);
    await fixture.depositMany(61, 600n);
    const payout = await fixture.reserve(1_993_000n);
    await fixture.run(fixture.replica({ sender: { ...fixture.sender, feeRate: async () => 10n } }));
    expect(await fixture.statusOf(payout)).toBe('reserved');
    expect(await fixture.transactions()).toEqual([]);
    fixture.expectLogged({ level: 'error', has: '0.0199', needs: '0.01993' });
  });

  it('is cancelled instead of signed when its merchant asked for it, and the mempool spends no UTXO that is free', async () => {
    const sent = await fixture.send();
    await fixture.deposit(BITCOIN);
    const [payout, other] = [await fixture.reserve(20_000n), await fixture.reserve(30_000n)];
    await markCancelRequested(fixture.db, payout.id);
    // Ours is in the mempool, and has locked its UTXO.
    const [locked] = await fixture.utxos();
    expect(locked?.state).toBe('locked');
    expect(await fixture.sender.spentInMempool([locked?.outpoint ?? ''])).toBe(true);
    await fixture.finish();
    expect(await fixture.statusesOf(sent, payout, other)).toEqual(['mined', 'failed', 'mined']);
    expect(await fixture.published(payout.id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
  });

  it('of dust is refused, and does not delay others', async () => {
    await fixture.deposit(BITCOIN);
    const dust = await fixture.reserve(545n);
    const other = await fixture.reserve(546n);
    await fixture.finish();
    expect(await fixture.statusesOf(dust, other)).toEqual(['failed', 'mined']);
    expect(await fixture.published(dust.id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
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
    await fixture.expectPaid(payout);
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
    expect(await fixture.statusesOf(payout, large)).toEqual(['mined', 'reserved']);
    const spent = (await fixture.utxos()).filter(({ state }) => state === 'spent');
    expect(spent.map(({ outpoint }) => outpoint)).toEqual([stays.outpoint]);
  });
});

it('a halt stops new signatures, and signed transactions are followed', async () => {
  const signed = await fixture.send();
  const waiting = await fixture.reserve(BITCOIN / 4n);
  await halt(fixture.db, 'BTC');
  await fixture.node.mine(CONFIRMATIONS);
  await fixture.run();
  await fixture.run();
  expect(await fixture.statusesOf(signed, waiting)).toEqual(['mined', 'reserved']);
  await resume(fixture.db, 'BTC');
  await fixture.expectPaid(waiting);
});

it('a replica signs nothing with a lease that was lost during a pause', async () => {
  await fixture.deposit(BITCOIN);
  const payout = await fixture.reserve(BITCOIN / 4n);
  const feeRate = async () => {
    // Another replica takes the lease during the pause.
    await fixture.freeLease();
    await fixture.run(fixture.replica());
    return fixture.sender.feeRate();
  };
  expect(await fixture.run(fixture.replica({ sender: { ...fixture.sender, feeRate } }))).toBe(0);
  expect(await fixture.transactions()).toHaveLength(1);
  await fixture.freeLease();
  await fixture.expectPaid(payout);
  expect(await fixture.transactions()).toHaveLength(1);
});
