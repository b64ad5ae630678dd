import { describe, expect, jest, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { type FakeNode, someNodes } from '@quittance/testkit/fake-chain';
import { type ChainReader, WrongNetwork } from './chain.ts';
import { quorumReader } from './quorum-reader.ts';

const noQuorum = { name: 'NoQuorum' };
const away = { name: 'RpcUnavailable' };

describe('a reader of two nodes', () => {
  test('answers as one of them when both say the same', async () => {
    const { network, nodes, reader } = someNodes(2);
    network.pay();
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
    const { network, nodes, reader } = someNodes(2);
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
    const { nodes, reader } = someNodes(2);
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
    const { network, nodes, reader } = someNodes(2);
    expect(await reader.head()).toMatchObject({ height: 10 });
    nodes[0].goBack(4);
    await expect(reader.head()).rejects.toThrow('6 is the highest common block, and 10 was before');
    nodes[0].recover();
    network.mine();
    expect(await reader.head()).toMatchObject({ height: 11 });
  });

  test('waits at two blocks of one height: the head is the last that both have', async () => {
    const { network, nodes, reader } = someNodes(2);
    network.mine();
    nodes[1].branchOff(1);
    expect(await reader.head()).toMatchObject({ height: 10, hash: network.blocks()[10]?.hash });
    expect((await reader.blocksAfter(8, 10)).map(({ height }) => height)).toEqual([9, 10]);
    await expect(reader.blocksAfter(10, 1)).rejects.toMatchObject(noQuorum);
    await expect(reader.hashAt(11)).rejects.toMatchObject(noQuorum);
    await expect(reader.block(11)).rejects.toMatchObject(noQuorum);
  });

  test.each([0, 2])('has no head when one is on a branch of its own for long, %d ahead', async (more) => {
    const { nodes, reader } = someNodes(2);
    nodes[1].branchOff(7, more);
    await expect(reader.head()).rejects.toMatchObject(noQuorum);
  });

  test('follows a reorganisation once both have seen it', async () => {
    const { network, nodes, reader } = someNodes(2);
    network.pay();
    network.mine();
    expect(await reader.head()).toMatchObject({ height: 11 });
    expect((await reader.block(11))?.payments).toHaveLength(1);
    nodes[1].goBack(0);
    network.reorg();
    // One says block 11 is gone, the other that it is there.
    await expect(reader.head()).rejects.toMatchObject(noQuorum);
    await expect(reader.block(11)).rejects.toMatchObject(noQuorum);
    nodes[1].recover();
    expect(await reader.head()).toMatchObject({ height: 12 });
    expect((await reader.block(11))?.payments).toEqual([]);
  });

  test('names the source of an internal payment when one can', async () => {
    const { network, nodes } = someNodes(2);
    const txHash = network.pay(5n, { traceless: true });
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
    const reader = someNodes(1).nodes[0].reader();
    expect(quorumReader([reader])).toBe(reader);
    expect(() => quorumReader([])).toThrow('invariant');
  });
});

describe('a reader of three nodes', () => {
  const build = () => {
    const given = someNodes(3);
    given.network.pay();
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
    expect(reader.nodesLeftOut?.()).toBe(1);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toMatchObject({ chain: 'ethereum', node: 2, nodes: 3 });
    nodes[2].branchOff(2);
    nodes[1].recover();
    await reader.hashAt(10);
    expect(warn.mock.calls[1]?.[0]).toMatchObject({ node: 3, reason: expect.stringContaining('block 10') });
    expect(reader.nodesLeftOut?.()).toBe(2);
    expect(warn).toHaveBeenCalledTimes(2);
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

describe('while blocks are read, the network is what a quorum of the nodes is on', () => {
  const right = someNodes(1).nodes[0].reader();
  const moved = { ...right, check: () => Promise.reject(new WrongNetwork('chain 2, configured is 1')) };

  test('one of three that serves another network is left out, and keeps a start from beginning', async () => {
    const reader = quorumReader([right, moved, right]);
    await expect(reader.check('network')).resolves.toBeUndefined();
    await expect(reader.check()).rejects.toThrow('chain 2, configured is 1');
  });

  test('without a quorum on the right one nothing is read', async () => {
    await expect(quorumReader([moved, right]).check('network')).rejects.toThrow('chain 2, configured is 1');
    await expect(quorumReader([moved, moved, right]).check('network')).rejects.toThrow('chain 2');
  });
});
