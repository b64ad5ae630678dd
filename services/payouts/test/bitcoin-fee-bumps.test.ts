import { describe, expect, it } from '@jest/globals';
import { CAME_LATE } from '@quittance/shared/commands';
import { BITCOIN, bitcoinSuite, CONFIRMATIONS } from './bitcoin-fixture.ts';

/** Replacements of transactions that no block of a real Bitcoin node includes. */
const fixture = bitcoinSuite();

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
    expect(await fixture.attempts(payout.id)).toEqual([
      { status: 'replaced', fee: 'sat/vB' },
      { status: 'mined', fee: 'sat/vB' },
    ]);
    expect(await fixture.spent()).toMatchObject([{ tx_hash: next?.tx_hash }]);
    expect(await fixture.published(payout.id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const change = (await fixture.utxos()).filter(({ branch }) => branch === 'change');
    expect(change.map(({ reversed_at }) => reversed_at === null).sort()).toEqual([false, true]);
  });

  it('is raised at once by another process than the one that asks the signer late', async () => {
    await fixture.deposit(BITCOIN);
    await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await fixture.freeLease();
    fixture.clock.advance(21 * 60_000);
    const refused = { because: CAME_LATE, payouts: [], foreign: [], again_after_ms: 1_000 };
    const sign = async () => ({ known: true as const, reply: { signed: [], refused } });
    await fixture.run(fixture.replica({ signer: { sign } }));
    expect(await fixture.transactions()).toHaveLength(1);
    await fixture.run();
    expect((await fixture.transactions()).map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('is raised, and a miner includes the former transaction all the same', async () => {
    const { payout, old } = await bumped([BITCOIN], BITCOIN / 4n);
    await fixture.mineOnly([old?.raw ?? '']);
    await fixture.node.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.payout(payout.id)).toMatchObject({ status: 'mined', tx_hash: old?.tx_hash });
    expect((await fixture.transactions()).map(({ state }) => state)).toEqual(['mined', 'invalidated']);
    expect(await fixture.spent()).toMatchObject([{ tx_hash: old?.tx_hash }]);
  });

  it('is raised with one more UTXO, and reorganisations change twice which attempt is mined', async () => {
    const books = async () => {
      const said = `branch || ' ' || state || case when reversed_at is null then '' else ' reversed' end`;
      const rows = await fixture.db.rows<{ utxo: string }>(`select ${said} as utxo from utxos order by 1`);
      return rows.map(({ utxo }) => utxo);
    };
    // Without change, a higher fee must come from another UTXO.
    const { payout, old, next } = await bumped([BITCOIN, 50_000n], BITCOIN - 500n);
    expect(await books()).toEqual(['change incoming', 'deposit locked', 'deposit locked']);
    const ofOld = ['change incoming reversed', 'deposit available', 'deposit spent'];
    const look = async () => {
      await fixture.db.rows('update transactions set looked_at = null');
      // A UTXO is available in the database and spent in the chain until the transaction is checked.
      await fixture.run();
      await fixture.run();
      expect(fixture.ports.signingPause.reason).toBeUndefined();
    };
    await fixture.mineOnly([old?.raw ?? '']);
    await fixture.node.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('mined');
    expect(await books()).toEqual(ofOld);

    await fixture.node.reorganise(CONFIRMATIONS, [[next?.raw ?? '']]);
    await look();
    expect(await books()).toEqual(['change available', 'deposit spent', 'deposit spent']);
    const swept = await fixture.db.rows('select distinct state from unswept_deposits');
    expect(swept).toEqual([{ state: 'swept' }]);

    await fixture.node.reorganise((await fixture.height()) - (await heightOf(next)) + 1, [[old?.raw ?? '']]);
    await look();
    expect(await books()).toEqual(ofOld);
  });

  const heightOf = async (transaction: { tx_hash: string } | undefined): Promise<number> => {
    const status = await fixture.sender.status(transaction?.tx_hash ?? '');
    return status.state === 'mined' ? status.height : 0;
  };

  it('is raised by a transaction that is sent until the node has it', async () => {
    const payout = await fixture.send();
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

  it('is not raised to a fee that its recipient causes', async () => {
    await fixture.deposit(BITCOIN);
    const index = 5_000_000;
    const payout = await fixture.reserve(BITCOIN / 4n, fixture.wallet.address('deposit', index));
    await fixture.run();
    const [first] = await fixture.transactions();
    // A replacement would also have to pay the fee of the transaction that spends the payment.
    const paid = { outpoint: `${first?.tx_hash}:0`, index, amount: payout.amount };
    const { raw } = await fixture.spendAll(paid, fixture.newRecipient(), 50_000n);
    await fixture.node.rpc('sendrawtransaction', raw);
    fixture.clock.advance(21 * 60_000);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
    fixture.expectLogged({ why: 'too_dear' });
    await fixture.expectPaid(payout);
  });

  it('is not raised when its change is spent by another payout', async () => {
    const first = await fixture.send();
    await fixture.node.mine(1);
    const second = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    await fixture.node.reorganise(1);
    await fixture.run();
    fixture.clock.advance(21 * 60_000);
    await fixture.run();
    // The second payout may be replaced, because its change is not spent.
    expect((await fixture.transactions()).filter(({ attempt }) => attempt === 2)).toHaveLength(1);
    await fixture.expectPaid(first, second);
  });
});
