import { describe, expect, it } from '@jest/globals';
import type { Units } from '@quittance/shared/money';
import { DUE, empty, MINUTE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

const { fixture, anInvoice, mine, inside, blocks, reorg, pass } = await openFixture();

/** A node that takes a block, and answers for the newest one with the balances of the next. @returns what ends it */
function takesBlock(invoices: readonly { to: string }[], amount: bigint): () => void {
  const { balances } = fixture.chain;
  if (balances === undefined) throw new Error('Ethereum has balances');
  const { balancesAt } = balances;
  balances.balancesAt = async (addresses, height) => {
    const held = await balancesAt(addresses, height);
    if (height === fixture.chain.height())
      for (const { to } of invoices) if (held.has(to)) held.set(to, amount as Units);
    return held;
  };
  return () => {
    balances.balancesAt = balancesAt;
  };
}

describe('contract-sent ETH', () => {
  it('is found by the balance, in its block, with its transaction where the node traces', async () => {
    const invoice = await anInvoice();
    const tx = newTx();
    fixture.chain.mine(...empty(3), { inside: [{ to: invoice.to, amount: DUE, tx }] }, ...empty(5));
    const height = fixture.chain.height() - 5;
    await fixture.scan();
    await invoice.expectShown({
      status: 'confirmed',
      payments: [
        { tx_hash: tx, amount: '0.01', block_height: height, confirmations: 6, status: 'confirmed' },
      ],
    });
    const [{ outpoint, block_hash }] = await invoice.deposits();
    expect(outpoint).toBe(`${block_hash}:${invoice.to}`);
    await fixture.credit();
    await invoice.expectShown({ status: 'paid' });
    await blocks(3);
    expect(await invoice.deposits()).toHaveLength(1);
  });

  it('comes in several pieces, beside ordinary payments and sweeps', async () => {
    const invoice = await anInvoice();
    const third = DUE / 4n;
    await mine(
      { inside: [{ to: invoice.to, amount: third }] },
      { pay: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: third + 7n }] },
      { inside: [{ to: invoice.to, amount: third }] },
      { inside: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: 2n * third }] },
      {},
    );
    const parts = await invoice.deposits();
    expect(parts.map(({ amount }) => amount)).toEqual(Array(4).fill(third.toString()));
    expect(parts.filter(({ tx_hash }) => tx_hash === null)).toHaveLength(3);
    await invoice.expectShown({ status: 'confirmed', pending_amount: '0.0025', paid_amount: '0.0075' });
    await mine({ spend: [{ from: invoice.to, amount: third - 7n }] }, ...empty(3));
    expect(await invoice.deposits()).toHaveLength(4);
  });

  it('is found on each of many open invoices, with one check per block', async () => {
    const merchant = fixture.merchant();
    const invoices = await Promise.all(Array.from({ length: 300 }, () => merchant.invoice()));
    await fixture.scan();
    const read = fixture.chain.balancesRead;
    await mine(
      { inside: invoices.map(({ address }) => ({ to: address.address.toLowerCase(), amount: DUE })) },
      {},
    );
    const { body } = await merchant.get('/api/invoices?status=confirmed&perPage=1');
    expect(body.meta.total).toBe(300);
    const open = await fixture.rows('select 1 from addresses where balance_check_at is not null');
    // One check finds it, one sees that it explains the balance, and a few find the block.
    expect(fixture.chain.balancesRead - read).toBeLessThan(open.length + 300 * 6);
    const again = fixture.chain.balancesRead;
    await fixture.scan();
    expect(fixture.chain.balancesRead).toBe(again);
  });

  it('in time is in time: no invoice expires before its balance is checked', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE);
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    fixture.pass(MINUTE);
    await blocks(3);
    await invoice.expectShown({ status: 'confirmed' });
  });

  it('in time is in time although another payment arrives after the expiry', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    fixture.pass(2 * MINUTE);
    await mine({ pay: [{ to: invoice.to, amount: 1n }] });
    await invoice.expectShown({ status: 'confirmed' });
  });

  it('that is late is recorded as late, also days later', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await pass(2 * MINUTE);
    await invoice.expectShown({ status: 'expired' });
    fixture.pass(24 * 60 * MINUTE);
    await inside(invoice.to);
    await blocks(1);
    await invoice.expectShown({ status: 'expired', payments: [{ amount: '0.01' }] });
    await blocks(2);
    await invoice.expectReported('invoice.expired', 'invoice.late_payment', 'deposit.settled');
    expect((await invoice.last())?.payload).toMatchObject({ disposition: 'unresolved', tx_hash: null });
    // After a week the balance is not checked any more.
    await pass(8 * 24 * 60 * MINUTE);
    expect(
      await fixture.rows('select balance_check_at from addresses where address = $1', [invoice.to]),
    ).toEqual([{ balance_check_at: null }]);
  });

  it('from before the address was given out belongs to no invoice', async () => {
    // The address of a later invoice: an earlier installation with the same key could know it.
    const first = await anInvoice();
    const pooled = await fixture.watchedChain.addresses.take();
    expect(pooled.address).not.toBe(first.to);
    await mine({ inside: [{ to: pooled.address, amount: 5n * DUE }] });
    const take = fixture.watchedChain.addresses.take;
    fixture.watchedChain.addresses.take = async () => pooled;
    const invoice = await anInvoice();
    fixture.watchedChain.addresses.take = take;
    expect(invoice.to).toBe(pooled.address);
    await blocks(2);
    await invoice.expectShown({ status: 'pending', payments: [] });
    await inside(invoice.to);
    await blocks(1);
    await invoice.expectShown({ status: 'confirmed', pending_amount: '0.01' });
  });

  it('is dropped with its block and found again in the new one', async () => {
    const invoice = await anInvoice();
    await mine({ inside: [{ to: invoice.to, amount: DUE }] }, {});
    await invoice.expectShown({ status: 'confirmed' });
    await reorg(2, {}, {});
    await invoice.expectShown({ status: 'pending' });
    await reorg(1, { inside: [{ to: invoice.to, amount: DUE }] }, {}, {});
    expect((await invoice.deposits()).map(({ state }) => state).sort()).toEqual(['dropped', 'settled']);
    await fixture.credit();
    await invoice.expectShown({ status: 'paid', paid_amount: '0.01' });
  });

  it.each([
    ['a payment that the next one names', { pay: true }],
    ['what a contract sends in the next one', { pay: false }],
  ])('is counted once when the balance of the newest block has %s', async (_, { pay }) => {
    const invoices = [await anInvoice()];
    const hasTaken = takesBlock(invoices, DUE);
    await blocks(1);
    // As the first one waits for a block, this one is looked at in the block that was the newest when it was made.
    invoices.push(await anInvoice());
    await fixture.scan();
    hasTaken();
    const payments = invoices.map(({ to }) => ({ to, amount: DUE }));
    await mine(pay ? { pay: payments } : { inside: payments }, ...empty(3));
    for (const invoice of invoices)
      expect(await invoice.deposits()).toMatchObject([{ amount: DUE.toString(), state: 'settled' }]);
  });

  it('is not what a sweep seems to have left when the balance of the newest block is that after the sweep', async () => {
    const invoice = await anInvoice();
    await mine({ pay: [{ to: invoice.to, amount: DUE }] }, ...empty(3));
    const hasTaken = takesBlock([invoice], 0n);
    await pass(2 * MINUTE);
    hasTaken();
    await mine({ spend: [{ from: invoice.to, amount: DUE }] });
    await pass(10 * MINUTE);
    await blocks(3);
    expect(await invoice.deposits()).toHaveLength(1);
  });

  it('is found late where the node has pruned old states', async () => {
    const invoice = await anInvoice();
    await blocks(1);
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, ...empty(20));
    fixture.chain.prunedBelow = fixture.chain.height() - 4;
    await fixture.scan();
    fixture.chain.prunedBelow = 0;
    const [deposit] = await invoice.deposits();
    expect(deposit).toMatchObject({ amount: DUE.toString(), block_height: fixture.chain.height() - 4 });
  });

  it('whose balance was first reported too low is completed from the newest block, and other balances are checked meanwhile', async () => {
    const [invoice, other] = [await anInvoice(), await anInvoice()];
    const { balances } = fixture.chain;
    if (balances === undefined) throw new Error('Ethereum has balances');
    const { balancesAt } = balances;
    const [block] = fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, {});
    balances.balancesAt = async (...asked) =>
      new Map([...(await balancesAt(...asked))].map(([at, held]) => [at, (held / 2n) as Units]));
    await fixture.scan();
    expect(await invoice.deposits()).toMatchObject([{ amount: (DUE / 2n).toString() }]);
    balances.balancesAt = balancesAt;
    await fixture.rows('update addresses set balance_height = null where address = $1', [invoice.to]);
    await mine({ inside: [{ to: other.to, amount: DUE }] }, ...empty(3));
    await other.expectShown({ status: 'confirmed' });
    const deposits = await invoice.deposits();
    expect(deposits.toSorted((one, other) => one.block_height - other.block_height)).toMatchObject([
      { amount: (DUE / 2n).toString(), block_height: block?.height },
      { amount: (DUE / 2n).toString(), block_height: fixture.chain.height() },
    ]);
    await blocks(3);
    expect((await invoice.settled()).map(({ payload }) => payload.amount)).toEqual(
      Array(2).fill((DUE / 2n).toString()),
    );
  });
});
