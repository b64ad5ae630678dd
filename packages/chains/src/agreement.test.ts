import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import {
  agreeingReader,
  agreeingSender,
  broadcastOf,
  commonBlocks,
  highest,
  lowest,
  type Rules,
  same,
  sameBlock,
  senderRules,
  statusOf,
} from './agreement.ts';
import type { Block, Broadcast, TransactionStatus } from './chain.ts';
import { type FakeNetworkOptions, fakeNetwork } from './fake/network.ts';
import { type FakeSender, fakeNode } from './fake/node.ts';

const disagree = { name: 'NodesDisagree' };
const away = { name: 'RpcUnavailable' };

describe('what several nodes say', () => {
  test('is what they all say, whatever it is', () => {
    expect(same('x', [undefined, undefined])).toBeUndefined();
    expect(same('x', [new Map([['a', 1n]]), new Map([['a', 1n]])])).toEqual(new Map([['a', 1n]]));
    expect(() => same('x', [1n, 2n])).toThrow('x: the nodes do not say the same');
    expect(() => same('x', [undefined, null])).toThrow(expect.objectContaining(disagree));
    expect(() => same('x', [])).toThrow('invariant');
  });

  test('is the lowest or the highest of numbers', () => {
    expect([lowest([3, 1, 2]), highest([3n, 10n, 2n])]).toEqual([1, 10n]);
  });

  test.each<[Broadcast[], Broadcast]>([
    [['accepted', 'accepted'], 'accepted'],
    [['accepted', 'rejected'], 'accepted'],
    [['unknown', 'accepted'], 'accepted'],
    [['rejected', 'rejected'], 'rejected'],
    // It may have reached the network by the one of which nothing is known.
    [['rejected', 'unknown'], 'unknown'],
    [['unknown', 'unknown'], 'unknown'],
  ])('%j of a broadcast is %s', (answers, outcome) => {
    expect(broadcastOf(answers)).toBe(outcome);
  });

  const mined = (given: Partial<Extract<TransactionStatus, { state: 'mined' }>> = {}): TransactionStatus => ({
    state: 'mined',
    height: 7,
    blockHash: 'a',
    confirmations: 3,
    succeeded: true,
    feePaid: units(5n),
    ...given,
  });
  const [absent, pending] = [{ state: 'absent' }, { state: 'pending' }] as const;

  test.each<[string, TransactionStatus[], TransactionStatus | 'wait']>([
    ['absent on all', [absent, absent], absent],
    ['waiting on all', [pending, pending], pending],
    ['waiting on one', [absent, pending], pending],
    ['mined on all', [mined(), mined()], mined()],
    ['mined, and one is behind', [mined(), mined({ confirmations: 1 })], mined({ confirmations: 1 })],
    ['mined on one, and waiting on another', [mined(), pending], 'wait'],
    ['mined on one, and absent on another', [absent, mined()], 'wait'],
    ['mined in two blocks', [mined(), mined({ blockHash: 'b' })], 'wait'],
    ['mined at two heights', [mined(), mined({ height: 8 })], 'wait'],
    ['mined with two outcomes', [mined(), mined({ succeeded: false })], 'wait'],
    ['mined for two fees', [mined(), mined({ feePaid: units(6n) })], 'wait'],
  ])('of a transaction: %s', (_what, answers, outcome) => {
    if (outcome === 'wait') expect(() => statusOf(answers)).toThrow(expect.objectContaining(disagree));
    else expect(statusOf(answers)).toEqual(outcome);
  });

  const block = (height: number, hash = `${height}`): Block => ({
    height,
    hash,
    parentHash: `${height - 1}`,
    time: new Date(height),
    payments: [],
    spends: [],
  });

  test('of the time of a block is the earliest, where all else is the same', () => {
    const [early, late] = [block(7), { ...block(7), time: new Date(8) }];
    for (const answers of [
      [early, late],
      [late, early],
    ]) {
      expect(sameBlock(7, answers)).toEqual(early);
      expect(commonBlocks(answers.map((one) => [one]))).toEqual([early]);
    }
    expect(sameBlock(7, [undefined, undefined])).toBeUndefined();
    expect(() => sameBlock(7, [early, undefined])).toThrow(expect.objectContaining(disagree));
    expect(() => sameBlock(7, [early, { ...late, hash: 'b' }])).toThrow('block 7');
  });

  test.each<[string, Block[][], number[] | 'wait']>([
    [
      'the same',
      [
        [block(1), block(2)],
        [block(1), block(2)],
      ],
      [1, 2],
    ],
    ['one has seen less', [[block(1), block(2)], [block(1)]], [1]],
    ['one has seen nothing', [[block(1)], []], []],
    [
      'another block later on',
      [
        [block(1), block(2)],
        [block(1), block(2, 'b')],
      ],
      [1],
    ],
    ['another block at once', [[block(1)], [block(1, 'b')]], 'wait'],
    ['one lacks a height that another has', [[block(1)], [block(2)]], 'wait'],
    ['other contents under one hash', [[block(1)], [{ ...block(1), payments: [{} as never] }]], 'wait'],
  ])('of blocks: %s', (_what, answers, heights) => {
    if (heights === 'wait') expect(() => commonBlocks(answers)).toThrow(expect.objectContaining(disagree));
    else expect(commonBlocks(answers).map(({ height }) => height)).toEqual(heights);
  });
});

function twoNodes(flavour: FakeNetworkOptions['flavour'] = 'account') {
  const network = fakeNetwork({ flavour });
  network.mine(10);
  const nodes = [fakeNode(network), fakeNode(network)] as const;
  return { network, nodes, reader: agreeingReader(nodes.map((node) => node.reader())) };
}

const pay = (network: ReturnType<typeof fakeNetwork>, address = 'us', amount = 5n) =>
  network.pay([{ asset: network.native, address, amount: units(amount) }]);

describe('a reader of two nodes', () => {
  test('that agree answers as one of them', async () => {
    const { network, nodes, reader } = twoNodes();
    pay(network);
    network.mine(2);
    const alone = nodes[0].reader();
    await reader.check();
    expect(reader.chain).toBe('ethereum');
    expect(await reader.head()).toEqual(await alone.head());
    expect(await reader.block(11)).toEqual(await alone.block(11));
    expect((await reader.block(11))?.payments).toMatchObject([{ address: 'us', amount: 5n }]);
    expect(await reader.hashAt(12)).toBe(await alone.hashAt(12));
    expect(await reader.block(13)).toBeUndefined();
    expect(await reader.hashAt(13)).toBeUndefined();
    expect(await reader.blocksAfter(5, 4)).toEqual(await alone.blocksAfter(5, 4));
    expect(await reader.balances?.balancesAt(['us'], 12)).toEqual(new Map([['us', 5n]]));
  });

  test('has the head that both have while one lags, and no block above it', async () => {
    const { network, nodes, reader } = twoNodes();
    nodes[1].lag(3);
    expect(await reader.head()).toMatchObject({ height: 7, hash: network.blocks()[7]?.hash });
    expect((await reader.blocksAfter(5, 10)).map(({ height }) => height)).toEqual([6, 7]);
    await expect(reader.block(8)).rejects.toMatchObject(disagree);
    await expect(reader.hashAt(8)).rejects.toMatchObject(disagree);
    await expect(reader.balances?.balancesAt(['us'], 8)).rejects.toMatchObject(away);
    nodes[1].recover();
    expect(await reader.head()).toMatchObject({ height: 10 });
  });

  test('waits while one is away, in every question', async () => {
    const { nodes, reader } = twoNodes();
    nodes[1].away();
    const questions: (() => unknown)[] = [
      () => reader.check(),
      () => reader.head(),
      () => reader.block(3),
      () => reader.blocksAfter(3, 2),
      () => reader.hashAt(3),
      () => reader.balances?.balancesAt(['us'], 3),
    ];
    for (const ask of questions) await expect(ask()).rejects.toMatchObject(away);
    nodes[1].recover();
    expect(await reader.head()).toMatchObject({ height: 10 });
  });

  test('waits when the head goes back, and goes on from where it was', async () => {
    const { network, nodes, reader } = twoNodes();
    expect(await reader.head()).toMatchObject({ height: 10 });
    nodes[0].goBack(4);
    await expect(reader.head()).rejects.toThrow('6 is the highest common block, and 10 was before');
    nodes[0].recover();
    network.mine();
    expect(await reader.head()).toMatchObject({ height: 11 });
  });

  test('waits at two blocks of one height: the head is the last that both have', async () => {
    const { network, nodes, reader } = twoNodes();
    network.mine();
    nodes[1].branchOff(1);
    expect(await reader.head()).toMatchObject({ height: 10, hash: network.blocks()[10]?.hash });
    expect((await reader.blocksAfter(8, 10)).map(({ height }) => height)).toEqual([9, 10]);
    await expect(reader.blocksAfter(10, 1)).rejects.toMatchObject(disagree);
    await expect(reader.hashAt(11)).rejects.toMatchObject(disagree);
    await expect(reader.block(11)).rejects.toMatchObject(disagree);
  });

  test.each([0, 2])('has no head when one is on a branch of its own for long, %d ahead', async (more) => {
    const { nodes, reader } = twoNodes();
    nodes[1].branchOff(7, more);
    await expect(reader.head()).rejects.toMatchObject(disagree);
  });

  test('follows a reorganisation once both have seen it', async () => {
    const { network, nodes, reader } = twoNodes();
    pay(network);
    network.mine();
    expect(await reader.head()).toMatchObject({ height: 11 });
    expect((await reader.block(11))?.payments).toHaveLength(1);
    nodes[1].stall();
    network.reorg(1, 'drop');
    // One says block 11 is gone, the other that it is there.
    await expect(reader.head()).rejects.toMatchObject(disagree);
    await expect(reader.block(11)).rejects.toMatchObject(disagree);
    nodes[1].recover();
    expect(await reader.head()).toMatchObject({ height: 12 });
    expect((await reader.block(11))?.payments).toEqual([]);
  });

  test('believes no payment that only one of them tells', async () => {
    const network = fakeNetwork({ flavour: 'account' });
    pay(network);
    network.mine();
    const honest = fakeNode(network).reader();
    const inventive = {
      ...honest,
      block: async (height: number) => {
        const block = await honest.block(height);
        return block && { ...block, payments: block.payments.map((one) => ({ ...one, amount: units(6n) })) };
      },
    };
    await expect(agreeingReader([honest, inventive]).block(1)).rejects.toMatchObject(disagree);
  });

  test('names the source of an internal payment when one can', async () => {
    const { network, nodes } = twoNodes();
    const txHash = network.pay([{ asset: 'ETH', address: 'us', amount: units(5n), traceless: true }]);
    network.mine();
    const mute = nodes[0].reader();
    const reader = agreeingReader([
      { ...mute, balances: { balancesAt: async () => new Map(), internalSource: async () => null } },
      nodes[1].reader(),
    ]);
    const { hash } = await reader.head();
    expect(await reader.balances?.internalSource('us', hash)).toBe(txHash);
    expect(await reader.balances?.internalSource('nobody', hash)).toBeNull();
  });

  test('of one node is the reader of that node', () => {
    const reader = fakeNode(fakeNetwork({ flavour: 'utxo' })).reader();
    expect(agreeingReader([reader])).toBe(reader);
    expect(() => agreeingReader([])).toThrow('invariant');
  });
});

describe('what waits on two nodes', () => {
  test('is told once both have it, and once', async () => {
    const { network, nodes, reader } = twoNodes('utxo');
    const watch = reader.watchPending?.();
    const txHash = pay(network);
    nodes[1].forget(txHash);
    expect((await watch?.look())?.fresh).toEqual([]);
    nodes[1].recover();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash, amount: 5n }]);
    expect((await watch?.look())?.fresh).toEqual([]);
  });

  test('waits as long as it waits on one, and is settled only above the highest head', async () => {
    const { network, nodes, reader } = twoNodes('utxo');
    const watch = reader.watchPending?.();
    const txHash = pay(network);
    await watch?.look();
    nodes[1].forget(txHash);
    expect((await watch?.look())?.has(txHash)).toBe(true);
    nodes[1].lag(1);
    network.mine();
    const look = await watch?.look();
    expect([look?.has(txHash), look?.height]).toEqual([false, 11]);
  });

  test('is not lost when one of them was away at a look', async () => {
    const { network, nodes, reader } = twoNodes('utxo');
    const watch = reader.watchPending?.();
    const txHash = pay(network);
    nodes[1].away();
    await expect(watch?.look()).rejects.toMatchObject(away);
    nodes[1].recover();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash }]);
  });

  test('is not told when both say another thing of it', async () => {
    const { network, nodes } = twoNodes('utxo');
    const honest = nodes[0].reader();
    const other = {
      ...honest,
      watchPending: () => ({
        async look() {
          const look = await nodes[1].reader().watchPending?.().look();
          if (look === undefined) throw new Error('it watches');
          return { ...look, fresh: look.fresh.map((one) => ({ ...one, amount: units(6n) })) };
        },
      }),
    };
    pay(network);
    expect((await agreeingReader([honest, other]).watchPending?.().look())?.fresh).toEqual([]);
  });

  test('is forgotten when it was told by one and waits nowhere', async () => {
    const { network, nodes, reader } = twoNodes('utxo');
    const watch = reader.watchPending?.();
    const txHash = pay(network);
    nodes[1].forget(txHash);
    await watch?.look();
    network.drop(txHash);
    nodes[1].recover();
    expect(await watch?.look()).toMatchObject({ fresh: [] });
  });
});

describe('a sender of two nodes', () => {
  const rules: Rules<FakeSender> = {
    ...senderRules,
    sign: (answers) => same('a signature', answers),
    coins: (answers) => same('the coins', answers),
  };
  const build = () => {
    const { network, nodes } = twoNodes();
    network.pay([{ asset: 'ETH', address: 'seed-hot', amount: units(1_000_000n) }]);
    network.mine();
    const sender = agreeingSender(
      nodes.map((node) => node.sender()),
      rules,
    );
    const order = { asset: 'ETH', to: 'them', amount: units(5n), nonce: 0 } as const;
    return { network, nodes, sender, order };
  };

  test('sends to both, and tells what both tell', async () => {
    const { network, nodes, sender, order } = build();
    const signed = await sender.sign(order);
    expect([sender.hotAddress, sender.depositAddress(3)]).toEqual(['seed-hot', 'seed-3']);
    expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
    nodes[1].forget(signed.txHash);
    expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
    network.mine(3);
    nodes[1].lag(1);
    expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', confirmations: 2 });
    nodes[1].lag(3);
    await expect(sender.status(signed.txHash)).rejects.toMatchObject(disagree);
    expect(await sender.finalizedHeight()).toBe(5);
    await expect(sender.balance('ETH', 'them')).rejects.toMatchObject(disagree);
    nodes[1].recover();
    expect(await sender.balance('ETH', 'them')).toBe(5n);
    await sender.close();
  });

  test('of which one is away sends by the other, and knows nothing else', async () => {
    const { network, nodes, sender, order } = build();
    const signed = await sender.sign(order);
    nodes[0].away();
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    for (const ask of [
      () => sender.status(signed.txHash),
      () => sender.balance('ETH', 'them'),
      () => sender.usualCost('ETH'),
      () => sender.finalizedHeight(),
      () => sender.check(),
    ]) {
      await expect(ask()).rejects.toMatchObject(away);
    }
    nodes[1].away();
    expect(await sender.broadcast(signed.raw)).toBe('unknown');
    nodes[0].recover();
    nodes[1].recover();
    expect(network.pool()).toHaveLength(1);
  });

  test('refuses the wrong network of either', async () => {
    const { nodes } = build();
    const sender = agreeingSender([nodes[0].sender(), nodes[1].sender('seed', 'another')], rules);
    await expect(sender.check()).rejects.toMatchObject({ name: 'WrongNetwork' });
  });

  test('needs a rule for everything that asks a node', () => {
    // @ts-expect-error: how two nodes' coins become one answer is not said
    const incomplete: Rules<FakeSender> = { ...senderRules, sign: (answers) => same('a signature', answers) };
    expect(incomplete).not.toHaveProperty('coins');
  });
});
