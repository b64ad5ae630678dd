import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { fakeNetwork } from './network.ts';
import { fakeNode } from './node.ts';

const out = (address: string, amount = 5n) => ({ asset: 'BTC' as const, address, amount: units(amount) });
const eth = (address: string, amount: bigint) => ({ asset: 'ETH' as const, address, amount: units(amount) });

function utxo(blocks = 3) {
  const network = fakeNetwork({ flavour: 'utxo' });
  network.mine(blocks);
  const recipients = () =>
    network
      .blocks()
      .flatMap(({ transactions }) => transactions.flatMap((one) => one.outputs.map((o) => o.address)));
  return { network, recipients };
}

describe('a fake network', () => {
  test('mines what waits, once', () => {
    const { network, recipients } = utxo();
    network.pay([out('a'), out('b')]);
    expect(recipients()).toEqual([]);
    network.mine(2);
    expect(recipients()).toEqual(['a', 'b']);
    expect(network.pool()).toEqual([]);
    expect(network.blocks().map(({ height }) => height)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test.each<['again' | 'wait' | 'drop' | 'double_spend', inChain: string[], waiting: number]>([
    ['again', ['early', 'late', 'waiting'], 0],
    ['wait', ['early'], 2],
    ['drop', ['early'], 1],
    ['double_spend', ['early', 'beaten-late'], 1],
  ])('is reorganised to a longer chain; what was there: %s', (fate, inChain, waiting) => {
    const { network, recipients } = utxo(0);
    network.pay([out('early')]);
    network.mine();
    network.pay([out('late')]);
    network.mine(2);
    network.pay([out('waiting')]);
    const before = network.blocks();
    network.reorg(2, fate);
    const after = network.blocks();
    expect(after).toHaveLength(before.length + 1);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    for (const height of [2, 3]) expect(after[height]?.hash).not.toBe(before[height]?.hash);
    for (const [i, block] of after.entries()) if (i > 0) expect(block.parentHash).toBe(after[i - 1]?.hash);
    expect(recipients()).toEqual(inChain);
    expect(network.pool()).toHaveLength(waiting);
  });

  test('never has two transactions that claim the same', () => {
    const { network, recipients } = utxo();
    network.pay([out('first')]);
    network.mine();
    const [beaten] = network.blocks().at(-1)?.transactions ?? [];
    network.reorg(1, 'double_spend');
    // The bytes are sent once more: their money is spent.
    if (beaten !== undefined) network.send(beaten);
    network.mine();
    expect(recipients()).toEqual(['beaten-first']);
  });

  test('replaces and forgets what waits, and nothing else', () => {
    const { network, recipients } = utxo();
    const first = network.pay([out('first')]);
    const second = network.replace(first, [out('second')]);
    expect(network.pool().map(({ txHash }) => txHash)).toEqual([second]);
    network.drop(network.pay([out('third')]));
    network.mine();
    expect(recipients()).toEqual(['second']);
    expect(() => network.replace(second, [out('fourth')])).toThrow('only what waits');
    expect(() => network.drop(first)).toThrow('only what waits');
    expect(() => network.reorg(10)).toThrow('the first block stays');
  });

  test('of outputs has no failures and nothing without a trace', () => {
    const { network } = utxo();
    expect(() => network.pay([out('a')], { succeeds: false })).toThrow('not on a chain of outputs');
    expect(() => network.pay([{ ...out('a'), traceless: true }])).toThrow('not on a chain of outputs');
  });
});

describe('a fake node', () => {
  test('tells money without a trace by the balance alone, and its source when asked', async () => {
    const network = fakeNetwork({ flavour: 'account' });
    const txHash = network.pay([{ ...eth('us', 7n), traceless: true }]);
    network.mine();
    const reader = fakeNode(network).reader();
    const block = await reader.block(1);
    expect(block?.payments).toEqual([]);
    expect(await reader.balances?.balancesAt(['us'], 1)).toEqual(new Map([['us', 7n]]));
    expect(await reader.balances?.internalSource('us', block?.hash ?? '')).toBe(txHash);
  });

  test('takes what is broadcast and loses its answer', async () => {
    const network = fakeNetwork({ flavour: 'account' });
    network.pay([eth('seed-hot', 100_000n)]);
    network.mine();
    const node = fakeNode(network);
    const sender = node.sender();
    const order = { asset: 'ETH', to: 'them', amount: units(5n), nonce: 0 } as const;
    const { raw, txHash } = await sender.sign(order);
    node.loseAnswers();
    expect(await sender.broadcast(raw)).toBe('unknown');
    node.recover();
    expect(await sender.status(txHash)).toEqual({ state: 'pending' });
    network.mine();
    expect(await sender.balance('ETH', 'seed-hot')).toBe(100_000n - 5n - 21_000n);
    expect((await node.reader().block(2))?.spends).toEqual([
      { txHash, address: 'seed-hot', amount: 21_005n },
    ]);
    // The same number once more, and more than there is.
    const again = await sender.sign({ ...order, to: 'others' });
    expect(await sender.broadcast(again.raw)).toBe('rejected');
    const rich = await sender.sign({ ...order, nonce: 1, amount: units(79_000n) });
    expect(await sender.broadcast(rich.raw)).toBe('rejected');
  });

  test('tells what failed, which cost its fee and moved nothing', async () => {
    const network = fakeNetwork({ flavour: 'account' });
    network.pay([eth('seed-hot', 100_000n)]);
    network.mine();
    const sender = fakeNode(network).sender();
    const signed = await sender.sign({
      asset: 'ETH',
      to: 'them',
      amount: units(5n),
      nonce: 0,
      succeeds: false,
    });
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    network.mine();
    expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', succeeded: false });
    expect(await sender.balance('ETH', 'them')).toBe(0n);
    expect(await sender.balance('ETH', 'seed-hot')).toBe(79_000n);
  });

  test('may be on a branch, behind, or back where it was', async () => {
    const { network } = utxo();
    const node = fakeNode(network);
    const reader = node.reader();
    node.stall();
    network.mine(2);
    expect(await reader.head()).toMatchObject({ height: 3 });
    node.recover();
    expect(await reader.head()).toMatchObject({ height: 5 });
    node.goBack(4);
    expect(await reader.head()).toMatchObject({ height: 1 });
    node.recover();
    node.branchOff(2, 1);
    expect(await reader.head()).toMatchObject({ height: 6 });
    expect(await reader.hashAt(3)).toBe(network.blocks()[3]?.hash);
    expect(await reader.hashAt(4)).not.toBe(network.blocks()[4]?.hash);
  });
});
