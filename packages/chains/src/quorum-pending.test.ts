import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { someNodes } from '@quittance/testkit/fake-chain';
import type { ChainReader, PendingLook } from './chain.ts';
import { quorumReader } from './quorum-reader.ts';

const away = { name: 'RpcUnavailable' };

/** So many nodes whose waiting payments are watched, and one that waits. */
function aPending(count: number) {
  const { network, nodes, reader } = someNodes(count);
  const watch = reader.watchPending?.();
  return { network, nodes, watch, txHash: network.pay() };
}

describe('a pending payment of two nodes', () => {
  test('is told once both have it, and only once', async () => {
    const { nodes, watch, txHash } = aPending(2);
    nodes[1].forget(txHash);
    expect((await watch?.look())?.fresh).toEqual([]);
    nodes[1].recover();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash, amount: 5n }]);
    expect((await watch?.look())?.fresh).toEqual([]);
  });

  test('is pending as long as one node has it, and is settled only above the highest head', async () => {
    const { network, nodes, watch, txHash } = aPending(2);
    await watch?.look();
    nodes[1].forget(txHash);
    expect((await watch?.look())?.has(txHash)).toBe(true);
    nodes[1].lag(1);
    network.mine();
    const look = await watch?.look();
    expect([look?.has(txHash), look?.height]).toEqual([false, 11]);
  });

  test('is not lost when one of them was away at a look', async () => {
    const { nodes, watch, txHash } = aPending(2);
    nodes[1].away();
    await expect(watch?.look()).rejects.toMatchObject(away);
    nodes[1].recover();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash }]);
  });

  test('is forgotten when one told it and none has it any more', async () => {
    const { network, nodes, watch, txHash } = aPending(2);
    nodes[1].forget(txHash);
    await watch?.look();
    network.drop(txHash);
    nodes[1].recover();
    expect(await watch?.look()).toMatchObject({ fresh: [] });
  });
});

describe('a pending payment of three nodes', () => {
  test('is told once two have it, and is gone once two do not have it', async () => {
    const { nodes, watch, txHash } = aPending(3);
    nodes[0].away();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash, amount: 5n }]);
    nodes[0].recover();
    nodes[0].forget(txHash);
    const look = await watch?.look();
    expect([look?.fresh, look?.has(txHash)]).toEqual([[], true]);
    nodes[1].forget(txHash);
    expect((await watch?.look())?.has(txHash)).toBe(false);
  });

  test('is told while one node has not read its mempool, and not complete while two have not', async () => {
    const { network, nodes } = someNodes(3);
    const readers = nodes.map((node) => node.reader());
    const unread = (reader: ChainReader | undefined): ChainReader => ({
      ...(reader as ChainReader),
      watchPending: () => {
        const watch = reader?.watchPending?.();
        return { look: async () => ({ ...((await watch?.look()) as PendingLook), isComplete: false }) };
      },
    });
    const lookOf = (of: readonly ChainReader[]) => quorumReader(of).watchPending?.().look();
    network.pay();
    const [one, two, three] = readers as [ChainReader, ChainReader, ChainReader];
    expect(await lookOf([one, two, unread(three)])).toMatchObject({ isComplete: true });
    expect(await lookOf([one, unread(two), unread(three)])).toMatchObject({ isComplete: false });
  });

  test('is told as two of them tell it, and not when only two tell different things', async () => {
    const { network, nodes } = someNodes(3);
    const honest = nodes.map((node) => node.reader()) as [ChainReader, ChainReader, ChainReader];
    const liar: ChainReader = {
      ...honest[0],
      watchPending: () => {
        const watch = honest[0].watchPending?.();
        return {
          async look() {
            const look = (await watch?.look()) as PendingLook;
            return { ...look, fresh: look.fresh.map((one) => ({ ...one, amount: units(6n) })) };
          },
        };
      },
    };
    const txHash = network.pay();
    const freshOf = async (readers: ChainReader[]) =>
      (await quorumReader(readers).watchPending?.().look())?.fresh;
    expect(await freshOf([liar, honest[1], honest[2]])).toMatchObject([{ txHash, amount: 5n }]);
    expect(await freshOf([liar, honest[1]])).toEqual([]);
  });
});
