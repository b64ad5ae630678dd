import { describe, expect, it } from '@jest/globals';
import { BITCOIN, type BitcoinFixture, bitcoinSuite, CONFIRMATIONS } from './bitcoin-fixture.ts';
import { halt, resume } from './chain-worker-fixture.ts';

/** Payouts from a real Bitcoin node, stepped by hand, and what delays them. */
let fixture: BitcoinFixture;
bitcoinSuite((fresh) => {
  fixture = fresh;
});

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
    const first = await fixture.send();
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

it('a halt stops new signatures, and signed transactions are followed', async () => {
  const signed = await fixture.send();
  const waiting = await fixture.reserve(BITCOIN / 4n);
  await halt(fixture.db, 'BTC');
  await fixture.node.mine(CONFIRMATIONS);
  await fixture.run();
  await fixture.run();
  expect([await fixture.statusOf(signed), await fixture.statusOf(waiting)]).toEqual(['mined', 'reserved']);
  await resume(fixture.db, 'BTC');
  await fixture.finish();
  expect(await fixture.statusOf(waiting)).toBe('mined');
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
    await fixture.send();
    const mismatched = fixture.replica({ sender: { ...fixture.sender, hotAddress: fixture.newRecipient() } });
    expect(await fixture.run(mismatched)).toBe(0);
    expect(mismatched.signingPause.reason).toMatch(/WALLET_SEED/);
  });
});
