import { describe, expect, it } from '@jest/globals';
import type { Units } from '@quittance/shared/money';
import { ETHER, MINUTE, openFixture } from './fixture.ts';
import { newTx, type Script } from './scripted-chain.ts';

const DUE = ETHER / 100n;

const { fixture, anInvoice, blocks } = await openFixture();

const empty = (count: number): Script[] => Array.from({ length: count }, () => ({}));

describe('contract-sent ETH', () => {
  it('is found by the balance, in its block, with its transaction where the node traces', async () => {
    const invoice = await anInvoice();
    const tx = newTx();
    fixture.chain.mine(...empty(3), { inside: [{ to: invoice.to, amount: DUE, tx }] }, ...empty(5));
    const height = fixture.chain.height() - 5;
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      payments: [
        { tx_hash: tx, amount: '0.01', block_height: height, confirmations: 6, status: 'confirmed' },
      ],
    });
    const [{ outpoint, block_hash }] = await invoice.deposits();
    expect(outpoint).toBe(`${block_hash}:${invoice.to}`);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid' });
    fixture.chain.mine(...empty(3));
    await fixture.scan();
    expect(await invoice.deposits()).toHaveLength(1);
  });

  it('comes in several pieces, beside ordinary payments and sweeps', async () => {
    const invoice = await anInvoice();
    const third = DUE / 4n;
    fixture.chain.mine(
      { inside: [{ to: invoice.to, amount: third }] },
      { pay: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: third + 7n }] },
      { inside: [{ to: invoice.to, amount: third }] },
      { inside: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: 2n * third }] },
    );
    await fixture.scan();
    expect((await invoice.deposits()).map(({ amount, tx_hash }) => [amount, tx_hash === null])).toEqual(
      expect.arrayContaining([[third.toString(), true]]),
    );
    expect(await invoice.deposits()).toHaveLength(4);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    const [{ total }] = await fixture.rows(
      'select sum(amount)::text as total from deposits where invoice_id = $1',
      [invoice.id],
    );
    expect(total).toBe(DUE.toString());
    fixture.chain.mine({ spend: [{ from: invoice.to, amount: third - 7n }] }, ...empty(3));
    await fixture.scan();
    expect(await invoice.deposits()).toHaveLength(4);
  });

  it('is found on each of many open invoices, with one check per block', async () => {
    const merchant = fixture.merchant();
    const invoices = await Promise.all(Array.from({ length: 300 }, () => merchant.invoice()));
    await fixture.scan();
    const read = fixture.chain.balancesRead;
    fixture.chain.mine({
      inside: invoices.map(({ address }) => ({ to: address.address.toLowerCase(), amount: DUE })),
    });
    await fixture.scan();
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
    fixture.chain.mine(...empty(3));
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('in time is in time although another payment arrives after the expiry', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    fixture.pass(2 * MINUTE);
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: 1n }] });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('that is late is recorded as late, also days later', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(2 * MINUTE);
    fixture.chain.mine({});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
    fixture.pass(24 * 60 * MINUTE);
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'expired', payments: [{ amount: '0.01' }] });
    fixture.chain.mine(...empty(3));
    await fixture.scan();
    const told = await fixture.told(invoice.id);
    expect(told.map(({ kind }) => kind).slice(1)).toEqual([
      'invoice.expired',
      'invoice.late_payment',
      'deposit.settled',
    ]);
    expect(told.at(-1)?.payload).toMatchObject({ disposition: 'unresolved', tx_hash: null });
    // After a week the balance is not checked any more.
    fixture.pass(8 * 24 * 60 * MINUTE);
    fixture.chain.mine({});
    await fixture.scan();
    expect(
      await fixture.rows('select balance_check_at from addresses where address = $1', [invoice.to]),
    ).toEqual([{ balance_check_at: null }]);
  });

  it('from before the address was given out belongs to no invoice', async () => {
    // The address of a later invoice: an earlier installation with the same key could know it.
    const first = await anInvoice();
    const pooled = await fixture.watchedChain.addresses.take();
    expect(pooled.address).not.toBe(first.to);
    fixture.chain.mine({ inside: [{ to: pooled.address, amount: 5n * DUE }] });
    await fixture.scan();
    const take = fixture.watchedChain.addresses.take;
    fixture.watchedChain.addresses.take = async () => pooled;
    const invoice = await anInvoice();
    fixture.watchedChain.addresses.take = take;
    expect(invoice.to).toBe(pooled.address);
    fixture.chain.mine(...empty(2));
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending', payments: [] });
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.01' });
  });

  it('is dropped with its block and found again in the new one', async () => {
    const invoice = await anInvoice();
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, {});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    fixture.chain.reorg(2, {}, {});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    fixture.chain.reorg(1, { inside: [{ to: invoice.to, amount: DUE }] }, {}, {});
    await fixture.scan();
    expect((await invoice.deposits()).map(({ state }) => state).sort()).toEqual(['dropped', 'settled']);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.01' });
  });

  it('is found late where the node has pruned old states', async () => {
    const invoice = await anInvoice();
    fixture.chain.mine({});
    await fixture.scan();
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
    const [block] = fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    balances.balancesAt = async (...asked) =>
      new Map([...(await balancesAt(...asked))].map(([at, held]) => [at, (held / 2n) as Units]));
    await fixture.scan();
    expect(await invoice.deposits()).toMatchObject([{ amount: (DUE / 2n).toString() }]);
    balances.balancesAt = balancesAt;
    await fixture.rows('update addresses set balance_height = null where address = $1', [invoice.to]);
    fixture.chain.mine({ inside: [{ to: other.to, amount: DUE }] }, ...empty(3));
    await fixture.scan();
    expect(await other.read()).toMatchObject({ status: 'confirmed' });
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
