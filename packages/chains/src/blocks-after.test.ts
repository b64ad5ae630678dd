import { describe, expect, test } from '@jest/globals';
import { type Block, blocksAfter } from './chain.ts';

const aBlock = (height: number, fork = ''): Block => ({
  height,
  hash: `${height}${fork}`,
  parentHash: `${height - 1}${fork}`,
  time: new Date(height * 1000),
  payments: [],
  spends: [],
});

/** Blocks 0 … head, but for the given ones. */
function chainTo(head: number, others: ReadonlyMap<number, Block | undefined> = new Map()) {
  const asked: number[] = [];
  return {
    asked,
    block: async (height: number) => {
      asked.push(height);
      if (others.has(height)) return others.get(height);
      return height <= head ? aBlock(height) : undefined;
    },
  };
}

const heights = (blocks: Block[]) => blocks.map((block) => block.height);

describe('the blocks after a height', () => {
  test.each<[after: number, limit: number, expected: number[]]>([
    [20, 5, []],
    [19, 5, [20]],
    [25, 5, []],
    [10, 3, [11, 12, 13]],
    [10, 1, [11]],
    [10, 0, []],
    [10, 100, [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]],
  ])('%d, at most %d, of a chain up to 20', async (after, limit, expected) => {
    expect(heights(await blocksAfter(chainTo(20).block, after, limit))).toEqual(expected);
  });

  test('at the head cost one question', async () => {
    const chain = chainTo(20);
    await blocksAfter(chain.block, 20, 50);
    expect(chain.asked).toEqual([21]);
  });

  test('end before one that the node does not have, and before one of another branch', async () => {
    const lacks = chainTo(20, new Map([[14, undefined]]));
    expect(heights(await blocksAfter(lacks.block, 10, 50))).toEqual([11, 12, 13]);
    const forked = chainTo(20, new Map([[14, aBlock(14, 'b')]]));
    expect(heights(await blocksAfter(forked.block, 10, 50))).toEqual([11, 12, 13]);
    // The first is given whatever came before it: the caller knows what it has.
    expect(heights(await blocksAfter(forked.block, 13, 1))).toEqual([14]);
  });

  test('are an error when one of them cannot be read', async () => {
    const failing = async (height: number) => {
      if (height === 13) throw new Error('away');
      return aBlock(height);
    };
    await expect(blocksAfter(failing, 10, 5)).rejects.toThrow('away');
  });
});
