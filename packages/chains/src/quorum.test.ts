import { describe, expect, jest, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import type { Block, Broadcast, ChainReader, TransactionStatus } from './chain.ts';
import { type FakeNetworkOptions, fakeNetwork } from './fake/network.ts';
import { type FakeSender, fakeNode } from './fake/node.ts';
import { RpcUnavailable } from './json-rpc.ts';
import { commonPrefix, Panel, quorumOf, reached, same, sufficient, unopposed } from './quorum.ts';
import { commonBlocks, quorumReader, sameBlock } from './quorum-reader.ts';
import { broadcastOf, quorumSender, type Rules, senderRules, statusOf } from './quorum-sender.ts';

const noQuorum = { name: 'NoQuorum' };
const away = { name: 'RpcUnavailable' };

describe('the answers of several nodes', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
  ])('need of %i nodes a quorum of %i', (nodes, quorum) => {
    expect(quorumOf(nodes)).toBe(quorum);
  });

  test('are one answer when a quorum says the same, whatever it is', () => {
    expect(same('x', [undefined, undefined], 2)).toBeUndefined();
    const balances = () => new Map([['a', 1n]]);
    expect(same('x', [balances(), balances()], 2)).toEqual(balances());
    expect(same('x', [1n, 2n, 1n], 3)).toBe(1n);
    expect(same('x', [1n, 1n], 3)).toBe(1n);
    expect(same('x', [2n, 1n, 1n, 1n], 4)).toBe(1n);
    expect(() => same('x', [1n, 2n], 2)).toThrow('x: no 2 of 2 nodes say the same');
    expect(() => same('x', [1n, 1n, 2n, 2n], 4)).toThrow('x: no 3 of 4 nodes say the same');
    expect(() => same('x', [undefined, null], 2)).toThrow(expect.objectContaining(noQuorum));
    expect(() => same('x', [1n], 2)).toThrow(expect.objectContaining(noQuorum));
  });

  test('are no proof when one node contradicts a quorum', () => {
    expect(unopposed('x', [1n, 1n], 3)).toBe(1n);
    expect(() => unopposed('x', [1n, 1n, 2n], 3)).toThrow('x: a node contradicts the others');
    expect(() => unopposed('x', [1n], 3)).toThrow(expect.objectContaining(noQuorum));
  });

  test('give the height that a quorum has reached, and the fee that suffices for one', () => {
    expect([reached([7], 1), reached([3, 9], 2), reached([3, 9, 5], 3), reached([3, 9, 5, 1], 4)]).toEqual([
      7, 3, 5, 3,
    ]);
    expect([sufficient([7n], 1), sufficient([3n, 9n], 2), sufficient([3n, 9n, 5n], 3)]).toEqual([7n, 9n, 5n]);
    expect(reached([3, 9], 3)).toBe(3);
    expect(() => reached([3], 2)).toThrow(expect.objectContaining(noQuorum));
  });

  test('give what a quorum has in the same order', () => {
    expect(commonPrefix('x', [['a', 'b', 'c'], ['a', 'b'], ['a']], 3)).toEqual(['a', 'b']);
    // Who has left the others is heard no more, also where it says the same again.
    expect(
      commonPrefix(
        'x',
        [
          ['a', 'b', 'c'],
          ['a', 'x', 'c'],
          ['a', 'b'],
        ],
        3,
      ),
    ).toEqual(['a', 'b']);
    expect(commonPrefix('x', [['a'], [], []], 3)).toEqual([]);
    expect(() => commonPrefix('x', [['a'], ['b']], 2)).toThrow(expect.objectContaining(noQuorum));
  });

  test.each<[Broadcast[], Broadcast]>([
    [['accepted', 'accepted'], 'accepted'],
    [['accepted', 'rejected'], 'accepted'],
    [['unknown', 'accepted'], 'accepted'],
    [['rejected', 'rejected'], 'rejected'],
    // It may have reached the network by the one of which nothing is known.
    [['rejected', 'unknown'], 'unknown'],
    [['rejected', 'rejected', 'unknown'], 'unknown'],
    [['unknown', 'unknown'], 'unknown'],
  ])('make %j of a broadcast to all %s', (answers, outcome) => {
    expect(broadcastOf(answers, answers.length)).toBe(outcome);
  });

  test('do not tell of a broadcast while one may still accept it', () => {
    expect(() => broadcastOf(['rejected', 'rejected'], 3)).toThrow(expect.objectContaining(noQuorum));
    expect(broadcastOf(['rejected', 'accepted'], 3)).toBe('accepted');
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

  test.each<[string, TransactionStatus[], TransactionStatus | 'wait', number?]>([
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
    ['mined on two of three, and one is away', [mined(), mined()], mined(), 3],
    [
      'mined on two of three, and one is behind',
      [mined(), absent, mined({ confirmations: 1 })],
      mined({ confirmations: 1 }),
      3,
    ],
    [
      'mined on two of three, and one lies of its depth',
      [mined(), mined({ confirmations: 99 }), absent],
      mined(),
      3,
    ],
    [
      'mined on two of three, and one tells of another block',
      [mined(), mined({ blockHash: 'b' }), mined()],
      mined(),
      3,
    ],
    ['mined on one of three, and the others wait for it', [mined(), pending, absent], pending, 3],
    ['mined on one of three, and the others do not have it', [mined(), absent, absent], absent, 3],
    ['mined on one of three, absent on another, and one is away', [mined(), absent], 'wait', 3],
    ['waiting on one of three, and the others do not have it', [pending, absent, absent], absent, 3],
    ['absent on two of four, and one is away', [absent, absent, mined()], 'wait', 4],
    ['absent on two of four', [absent, absent, mined(), mined()], 'wait', 4],
  ])('tell of a transaction that is %s', (_what, answers, outcome, nodes = answers.length) => {
    if (outcome === 'wait') {
      expect(() => statusOf(answers, nodes)).toThrow(expect.objectContaining(noQuorum));
    } else expect(statusOf(answers, nodes)).toEqual(outcome);
  });

  const block = (height: number, hash = `${height}`): Block => ({
    height,
    hash,
    parentHash: `${height - 1}`,
    time: new Date(height),
    payments: [],
    spends: [],
  });

  test('give a block the earliest time that is told, but for as many as may err', () => {
    const [early, late] = [block(7), { ...block(7), time: new Date(8) }];
    for (const answers of [
      [early, late],
      [late, early],
    ]) {
      expect(sameBlock(7, answers, 2)).toEqual(early);
      expect(
        commonBlocks(
          answers.map((one) => [one]),
          2,
        ),
      ).toEqual([early]);
    }
    const absurd = { ...block(7), time: new Date(-1) };
    expect(sameBlock(7, [late, absurd, early], 3)).toEqual(early);
    expect(sameBlock(7, [undefined, undefined], 2)).toBeUndefined();
    expect(() => sameBlock(7, [early, undefined], 2)).toThrow(expect.objectContaining(noQuorum));
    expect(() => sameBlock(7, [early, { ...late, hash: 'b' }], 2)).toThrow('block 7');
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
  ])('give of the next blocks those in common: %s', (_what, answers, heights) => {
    const common = () => commonBlocks(answers, 2);
    if (heights === 'wait') expect(common).toThrow(expect.objectContaining(noQuorum));
    else expect(common().map(({ height }) => height)).toEqual(heights);
  });
});

function someNodes(count: number, flavour: FakeNetworkOptions['flavour'] = 'account') {
  const network = fakeNetwork({ flavour });
  network.mine(10);
  const nodes = Array.from({ length: count }, () => fakeNode(network)) as [FakeNode, FakeNode, FakeNode];
  return { network, nodes, reader: quorumReader(nodes.map((node) => node.reader())) };
}
type FakeNode = ReturnType<typeof fakeNode>;
const twoNodes = (flavour?: FakeNetworkOptions['flavour']) => someNodes(2, flavour);

const pay = (network: ReturnType<typeof fakeNetwork>, address = 'us', amount = 5n) =>
  network.pay([{ asset: network.native, address, amount: units(amount) }]);

describe('a reader of two nodes', () => {
  test('answers as one of them when both say the same', async () => {
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
    await expect(reader.block(8)).rejects.toMatchObject(noQuorum);
    await expect(reader.hashAt(8)).rejects.toMatchObject(noQuorum);
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
    await expect(reader.blocksAfter(10, 1)).rejects.toMatchObject(noQuorum);
    await expect(reader.hashAt(11)).rejects.toMatchObject(noQuorum);
    await expect(reader.block(11)).rejects.toMatchObject(noQuorum);
  });

  test.each([0, 2])('has no head when one is on a branch of its own for long, %d ahead', async (more) => {
    const { nodes, reader } = twoNodes();
    nodes[1].branchOff(7, more);
    await expect(reader.head()).rejects.toMatchObject(noQuorum);
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
    await expect(reader.head()).rejects.toMatchObject(noQuorum);
    await expect(reader.block(11)).rejects.toMatchObject(noQuorum);
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
    await expect(quorumReader([honest, inventive]).block(1)).rejects.toMatchObject(noQuorum);
  });

  test('names the source of an internal payment when one can', async () => {
    const { network, nodes } = twoNodes();
    const txHash = network.pay([{ asset: 'ETH', address: 'us', amount: units(5n), traceless: true }]);
    network.mine();
    const mute = nodes[0].reader();
    const reader = quorumReader([
      { ...mute, balances: { balancesAt: async () => new Map(), internalSource: async () => null } },
      nodes[1].reader(),
    ]);
    const { hash } = await reader.head();
    expect(await reader.balances?.internalSource('us', hash)).toBe(txHash);
    expect(await reader.balances?.internalSource('nobody', hash)).toBeNull();
  });

  test('of one node is the reader of that node', () => {
    const reader = fakeNode(fakeNetwork({ flavour: 'utxo' })).reader();
    expect(quorumReader([reader])).toBe(reader);
    expect(() => quorumReader([])).toThrow('invariant');
  });
});

describe('a pending payment of two nodes', () => {
  test('is told once both have it, and only once', async () => {
    const { network, nodes, reader } = twoNodes('utxo');
    const watch = reader.watchPending?.();
    const txHash = pay(network);
    nodes[1].forget(txHash);
    expect((await watch?.look())?.fresh).toEqual([]);
    nodes[1].recover();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash, amount: 5n }]);
    expect((await watch?.look())?.fresh).toEqual([]);
  });

  test('is pending as long as one node has it, and is settled only above the highest head', async () => {
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

  test('is not told when the nodes say different things of it', async () => {
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
    expect((await quorumReader([honest, other]).watchPending?.().look())?.fresh).toEqual([]);
  });

  test('is forgotten when one told it and none has it any more', async () => {
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

describe('a reader of three nodes', () => {
  const build = () => {
    const given = someNodes(3);
    pay(given.network);
    given.network.mine();
    return given;
  };
  const expectAll = async (reader: ChainReader, alone: ChainReader) => {
    await reader.check();
    expect(await reader.head()).toEqual(await alone.head());
    expect((await reader.block(11))?.payments).toMatchObject([{ address: 'us', amount: 5n }]);
    expect(await reader.blocksAfter(5, 4)).toEqual(await alone.blocksAfter(5, 4));
    expect(await reader.hashAt(11)).toBe(await alone.hashAt(11));
    expect(await reader.balances?.balancesAt(['us'], 11)).toEqual(new Map([['us', 5n]]));
  };

  test.each<[string, (node: FakeNode) => void]>([
    ['is away', (node) => node.away()],
    ['is behind', (node) => node.lag(5)],
    ['has gone back', (node) => node.goBack(4)],
    ['is on a branch of its own', (node) => node.branchOff(7)],
    ['is on a longer branch of its own', (node) => node.branchOff(7, 5)],
  ])('goes on without the one that %s', async (_what, strike) => {
    for (const struck of [0, 1, 2] as const) {
      const { nodes, reader } = build();
      strike(nodes[struck]);
      await expectAll(reader, nodes[struck === 0 ? 1 : 0].reader());
    }
  });

  test('believes no payment and no balance that only one of them tells', async () => {
    const { nodes, reader: alone } = build();
    const honest = nodes.map((node) => node.reader());
    const liar: ChainReader = {
      ...(honest[0] as ChainReader),
      block: async (height) => {
        const block = await honest[0]?.block(height);
        return block && { ...block, payments: block.payments.map((one) => ({ ...one, amount: units(6n) })) };
      },
      balances: {
        balancesAt: async () => new Map([['us', units(6n)]]),
        internalSource: async () => 'made up',
      },
    };
    const readers = [liar, ...honest.slice(1)];
    await expectAll(quorumReader(readers), alone);
    await expect(quorumReader(readers.slice(0, 2)).block(11)).rejects.toMatchObject(noQuorum);
  });

  test('waits while two are away, and while two say different things', async () => {
    const { nodes, reader } = build();
    nodes[0].away();
    nodes[1].branchOff(7);
    await expect(reader.head()).rejects.toMatchObject(noQuorum);
    nodes[1].away();
    await expect(reader.head()).rejects.toMatchObject(away);
    await expect(reader.block(11)).rejects.toMatchObject(away);
  });

  test('does not take a block for gone because two nodes have not come to it', async () => {
    const { nodes, reader } = build();
    expect(await reader.head()).toMatchObject({ height: 11 });
    nodes[0].goBack(3);
    nodes[1].goBack(3);
    await expect(reader.hashAt(11)).rejects.toMatchObject(away);
    await expect(reader.block(11)).rejects.toMatchObject(away);
    await expect(reader.head()).rejects.toThrow('8 is the highest common block, and 11 was before');
    // A height to which no quorum has come is another matter.
    expect(await reader.hashAt(12)).toBeUndefined();
  });

  test('answers at once when one node hangs, and waits for it again once it answers', async () => {
    const { nodes } = build();
    const honest = nodes.map((node) => node.reader());
    let hangs = true;
    let asked = 0;
    const hanging: ChainReader = {
      ...(honest[0] as ChainReader),
      hashAt: async (height) => {
        asked += 1;
        if (hangs) await new Promise(() => {});
        return honest[0]?.hashAt(height);
      },
    };
    const reader = quorumReader([hanging, ...honest.slice(1)], { graceMs: 20 });
    for (let i = 0; i < 3; i++) expect(await reader.hashAt(3)).toBe(await honest[1]?.hashAt(3));
    hangs = false;
    expect(await reader.hashAt(3)).toBe(await honest[1]?.hashAt(3));
    expect(asked).toBe(4);
  });

  test('waits for a slow node when the others do not go on without it', async () => {
    const { nodes } = build();
    const honest = nodes.map((node) => node.reader());
    nodes[1].goBack(3);
    const slow: ChainReader = {
      ...(honest[2] as ChainReader),
      async blocksAfter(height, limit) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        return (await honest[2]?.blocksAfter(height, limit)) ?? [];
      },
    };
    const reader = quorumReader([honest[0] as ChainReader, honest[1] as ChainReader, slow], { graceMs: 5 });
    for (let i = 0; i < 2; i++) {
      expect((await reader.blocksAfter(9, 5)).map(({ height }) => height)).toEqual([10, 11]);
    }
  });

  test('logs which node is left out, once a minute at most', async () => {
    const { nodes } = build();
    const warn = jest.fn();
    const readers = nodes.map((node) => node.reader());
    const reader = quorumReader(readers, { logger: { warn } as never });
    nodes[1].away();
    await reader.head();
    await reader.block(3);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toMatchObject({ chain: 'ethereum', node: 2, nodes: 3 });
    nodes[2].branchOff(2);
    nodes[1].recover();
    await reader.hashAt(10);
    expect(warn.mock.calls[1]?.[0]).toMatchObject({ node: 3, reason: expect.stringContaining('block 10') });
  });
});

describe('a reader of four nodes', () => {
  test('goes on with three of them, and waits with two', async () => {
    const { network, nodes, reader } = someNodes(4);
    nodes[0].away();
    network.mine();
    expect(await reader.head()).toMatchObject({ height: 11 });
    nodes[1].away();
    await expect(reader.head()).rejects.toMatchObject(away);
  });
});

describe('a pending payment of three nodes', () => {
  test('is told once two have it, and is gone once two do not have it', async () => {
    const { network, nodes, reader } = someNodes(3, 'utxo');
    const watch = reader.watchPending?.();
    const txHash = pay(network);
    nodes[0].away();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash, amount: 5n }]);
    nodes[0].recover();
    nodes[0].forget(txHash);
    const look = await watch?.look();
    expect([look?.fresh, look?.has(txHash)]).toEqual([[], true]);
    nodes[1].forget(txHash);
    expect((await watch?.look())?.has(txHash)).toBe(false);
  });

  test('is told although the first node that has it says another thing of it', async () => {
    const { network, nodes } = someNodes(3, 'utxo');
    const honest = nodes.map((node) => node.reader());
    const liar: ChainReader = {
      ...(honest[0] as ChainReader),
      watchPending: () => {
        const watch = honest[0]?.watchPending?.();
        return {
          async look() {
            const look = await watch?.look();
            if (look === undefined) throw new Error('it watches');
            return { ...look, fresh: look.fresh.map((one) => ({ ...one, amount: units(6n) })) };
          },
        };
      },
    };
    const watch = quorumReader([liar, ...honest.slice(1)]).watchPending?.();
    const txHash = pay(network);
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash, amount: 5n }]);
  });
});

describe('a panel of nodes', () => {
  const panelOf = (...answers: (() => Promise<string>)[]) =>
    new Panel(answers, { chain: 'ethereum', graceMs: 10 });
  const says = (text: string) => () => Promise.resolve(text);
  const never = () => new Promise<string>(() => {});
  const fails = (error: Error) => () => Promise.reject(error);
  const ask = (node: () => Promise<string>) => node();
  const agreed = (answers: readonly string[], nodes: number) => same('x', answers, nodes);

  test('concludes without a node that hangs, and without one that throws anything', async () => {
    expect(await panelOf(says('a'), says('a'), never).ask(ask, agreed)).toBe('a');
    expect(await panelOf(fails(new Error('strange')), says('a'), says('a')).ask(ask, agreed)).toBe('a');
  });

  test('waits for a late node that decides between two answers', async () => {
    const late = () => new Promise<string>((resolve) => setTimeout(() => resolve('b'), 50));
    expect(await panelOf(says('a'), says('b'), late).ask(ask, agreed)).toBe('b');
  });

  test('throws what a node threw when fewer than a quorum answer', async () => {
    await expect(
      panelOf(says('a'), fails(new Error('first')), fails(new Error('second'))).ask(ask, agreed),
    ).rejects.toThrow('first');
  });

  test('hears every node before a proof, and throws what contradicts it', async () => {
    let heard = false;
    const late = () =>
      new Promise<string>((_, reject) => {
        setTimeout(() => {
          heard = true;
          reject(new Error('it is in my block'));
        }, 50);
      });
    await expect(panelOf(says('a'), says('a'), late).askEvery(ask, agreed)).rejects.toThrow('in my block');
    expect(heard).toBe(true);
    const silent = fails(new RpcUnavailable('x', 'away'));
    expect(await panelOf(says('a'), silent, says('a')).askEvery(ask, agreed)).toBe('a');
  });
});

describe('a sender of several nodes', () => {
  const rules: Rules<FakeSender> = {
    ...senderRules,
    sign: (answers, nodes) => same('a signature', answers, nodes),
    coins: (answers, nodes) => same('the coins', answers, nodes),
  };
  const build = (count = 2) => {
    const { network, nodes } = someNodes(count);
    network.pay([{ asset: 'ETH', address: 'seed-hot', amount: units(1_000_000n) }]);
    network.mine();
    const sender = quorumSender(
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
    await expect(sender.status(signed.txHash)).rejects.toMatchObject(noQuorum);
    expect(await sender.finalizedHeight()).toBe(5);
    await expect(sender.balance('ETH', 'them')).rejects.toMatchObject(noQuorum);
    nodes[1].recover();
    expect(await sender.balance('ETH', 'them')).toBe(5n);
    await sender.close();
  });

  test('sends through the other node while one is away, and concludes nothing else', async () => {
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

  test('goes on with two of three while one is away, behind or on a branch of its own', async () => {
    for (const strike of [
      (node: FakeNode) => node.away(),
      (node: FakeNode) => node.lag(9),
      (node: FakeNode) => node.branchOff(9, 20),
    ]) {
      const { network, nodes, sender, order } = build(3);
      const signed = await sender.sign(order);
      strike(nodes[0]);
      expect(await sender.broadcast(signed.raw)).toBe('accepted');
      expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
      network.mine(3);
      expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', confirmations: 3 });
      expect(await sender.finalizedHeight()).toBe(8);
      expect(await sender.balance('ETH', 'them')).toBe(5n);
      await sender.check();
    }
  });

  test('refuses to start when either node is on another network', async () => {
    const { nodes } = build();
    const sender = quorumSender([nodes[0].sender(), nodes[1].sender('seed', 'another')], rules);
    await expect(sender.check()).rejects.toMatchObject({ name: 'WrongNetwork' });
  });

  test('needs a rule for everything that asks a node', () => {
    // @ts-expect-error: how two nodes' coins become one answer is not said
    const incomplete: Rules<FakeSender> = {
      ...senderRules,
      sign: (answers, nodes) => same('a signature', answers, nodes),
    };
    expect(incomplete).not.toHaveProperty('coins');
  });
});
