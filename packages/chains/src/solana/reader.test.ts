import { describe, expect, test } from '@jest/globals';
import { ExactNumber } from '@quittance/shared/exact-json';
import { scriptedRpc } from '@quittance/testkit/scripted-node';
import { type Numbers, RpcRefused } from '../json-rpc.ts';
import { createSolanaReader } from './reader.ts';

const TIME = 1_767_323_045;
const hashAt = (slot: number, branch = 'A') =>
  `${branch}${String(slot).replaceAll('0', 'z')}`.padEnd(44, '1');
const SIGNATURE = '5'.repeat(88);
const [payer, ours] = ['B'.repeat(43), 'C'.repeat(43)];

type Given = {
  hash?: string;
  parent?: string;
  time?: number | null;
  balances?: [unknown, unknown][];
  exact?: unknown[];
  signature?: string;
};
type BlockOf = (slot: number, numbers: Numbers | undefined) => Given | null | Error;

/** A node with a block at each of these slots, whose parent is the one before in the list. */
function nodeOf(slots: number[], given: { finalized?: number; block?: BlockOf; time?: number | null } = {}) {
  let finalized = given.finalized ?? slots.at(-1) ?? 0;
  let named = slots;
  /** The slot and the details of each block that was asked for. */
  const asked: [number, string][] = [];
  const rpc = scriptedRpc((method, params, numbers) => {
    switch (method) {
      case 'getSlot':
        return finalized;
      case 'getBlocksWithLimit': {
        const [from, limit] = params as [number, number];
        return named.filter((slot) => slot >= from).slice(0, limit);
      }
      case 'getBlockTime':
        return given.time ?? TIME;
      case 'getBlock': {
        const [slot, { transactionDetails }] = params as [number, { transactionDetails: string }];
        asked.push([slot, transactionDetails]);
        const there = slots.includes(slot) ? {} : null;
        const block = given.block === undefined ? there : given.block(slot, numbers);
        return block && (block instanceof Error ? block : written(slot, block));
      }
      default:
        throw new Error(`nobody expected ${method}`);
    }
  });
  const written = (slot: number, { hash, parent, time, balances = [], signature = SIGNATURE }: Given) => ({
    blockhash: hash ?? hashAt(slot),
    previousBlockhash: parent ?? hashAt(slots[slots.indexOf(slot) - 1] ?? slot - 1),
    blockTime: time === undefined ? TIME : time,
    transactions: balances.map(([before, after]) => ({
      meta: { err: null, fee: 5_000, preBalances: [9, before], postBalances: [9, after] },
      transaction: { signatures: [signature], accountKeys: [{ pubkey: payer }, { pubkey: ours }] },
    })),
  });
  const reader = createSolanaReader({ rpc, network: { name: 'local' } });
  return {
    reader,
    asked,
    finalize: (slot: number) => (finalized = slot),
    name: (some: number[]) => (named = some),
  };
}

const heights = (blocks: { height: number }[]) => blocks.map(({ height }) => height);

describe('the blocks after one', () => {
  test('leave out the slots that have none', async () => {
    const { reader } = nodeOf([5, 7, 8, 12]);
    expect(heights(await reader.blocksAfter(5, 10))).toEqual([7, 8, 12]);
    expect(heights(await reader.blocksAfter(5, 2))).toEqual([7, 8]);
  });

  test('end at the finalized one, whatever the node names beyond', async () => {
    const { reader } = nodeOf([5, 6, 7, 8], { finalized: 6 });
    expect(heights(await reader.blocksAfter(5, 10))).toEqual([6]);
    expect(await reader.block(7)).toBeUndefined();
    expect(await reader.hashAt(7)).toBeUndefined();
  });

  test('end before a hole: a node that names too few', async () => {
    const block: BlockOf = (slot) => (slot === 8 ? { parent: hashAt(7, 'D') } : {});
    const { reader } = nodeOf([5, 6, 8, 9], { block });
    expect(heights(await reader.blocksAfter(5, 10))).toEqual([6]);
  });

  test.each([
    ['nothing', null],
    [
      'no block here',
      new RpcRefused('getBlock', -32_009, 'Slot 7 was skipped, or missing in long-term storage'),
    ],
  ])('are not known when a block that was named is not given: %s', async (_, answer) => {
    const { reader } = nodeOf([5, 6, 7], { block: (slot) => (slot === 7 ? answer : {}) });
    await expect(reader.blocksAfter(5, 10)).rejects.toThrow('no block at slot 7');
    // Asked for by itself, it may have been skipped.
    expect(await reader.block(7)).toBeUndefined();
  });

  test('are not known when the node has thrown them away', async () => {
    const dropped = new RpcRefused('getBlock', -32_001, 'Block 6 cleaned up, does not exist on node');
    const { reader } = nodeOf([5, 6], { block: () => dropped });
    await expect(reader.blocksAfter(5, 10)).rejects.toThrow('cleaned up');
    await expect(reader.hashAt(5)).rejects.toThrow('cleaned up');
  });
});

test.each([null, 1_767_323])('a block whose time is %p has the one that the node estimates', async (time) => {
  const { reader } = nodeOf([5], { block: () => ({ time }), time: TIME + 1 });
  expect((await reader.block(5))?.time).toEqual(new Date((TIME + 1) * 1000));
  expect((await reader.head()).time).toEqual(new Date((TIME + 1) * 1000));
});

test('amounts longer than a double holds are asked for again, as text', async () => {
  const block: BlockOf = (_slot, numbers) =>
    numbers === 'exact'
      ? { balances: [[new ExactNumber('9007199254740993'), new ExactNumber('9007199254740994')]] }
      : { balances: [[9_007_199_254_740_992, 9_007_199_254_740_994]] };
  const { reader } = nodeOf([5], { block });
  expect((await reader.block(5))?.payments).toMatchObject([{ address: ours, amount: 1n }]);
});

test('a head that is no block yet is no head', async () => {
  const { reader } = nodeOf([], { finalized: 0 });
  await expect(reader.head()).rejects.toThrow('no finalized block yet');
});

describe('what waits', () => {
  const paying: BlockOf = (slot) => ({ balances: slot === 8 ? [[0, 5]] : [] });
  const watchOf = (node: ReturnType<typeof nodeOf>) => {
    const watch = node.reader.watchPending?.();
    if (watch === undefined) throw new Error('it has no watch');
    return watch;
  };

  test('is in blocks above the finalized one, is told once, and waits until its own is', async () => {
    const node = nodeOf([5, 6, 7, 8], { finalized: 6, block: paying });
    const watch = watchOf(node);
    const first = await watch.look();
    expect(first.fresh).toMatchObject([{ address: ours, amount: 5n }]);
    expect([first.has(SIGNATURE), first.height]).toEqual([true, 6]);
    const second = await watch.look();
    expect([second.fresh, second.has(SIGNATURE)]).toEqual([[], true]);
    node.finalize(8);
    const third = await watch.look();
    expect([third.fresh, third.has(SIGNATURE), third.height]).toEqual([[], false, 8]);
  });

  test.each([
    ['is not read a second time, only its header', undefined, ['none'], 5n],
    ['is read when the finalized block is another one', { hash: hashAt(8, 'D') }, ['none', 'accounts'], 7n],
  ] as [string, Given | undefined, string[], bigint][])('%s', async (_, later, asked, amount) => {
    let isFinal = false;
    const block: BlockOf = (slot) =>
      slot === 8 ? { balances: [[0, isFinal && later ? 7 : 5]], ...(isFinal && later) } : {};
    const node = nodeOf([5, 6, 7, 8], { finalized: 7, block });
    await watchOf(node).look();
    isFinal = true;
    node.finalize(8);
    node.asked.length = 0;
    expect(await node.reader.blocksAfter(7, 10)).toMatchObject([
      { height: 8, hash: later?.hash ?? hashAt(8), parentHash: hashAt(7), payments: [{ amount }] },
    ]);
    expect(node.asked).toEqual(asked.map((details) => [8, details]));
  });

  test('is still fresh after a look that failed half-way', async () => {
    let fails = true;
    const block: BlockOf = (slot, numbers) =>
      fails && slot === 9 ? new RpcRefused('getBlock', -32_005, 'node is behind') : paying(slot, numbers);
    const watch = watchOf(nodeOf([7, 8, 9], { finalized: 7, block }));
    await expect(watch.look()).rejects.toThrow('behind');
    fails = false;
    expect((await watch.look()).fresh).toHaveLength(1);
  });

  const at = (height: number) => SIGNATURE.slice(0, 86) + String(height).padStart(2, '1').replace('0', 'z');
  const each: BlockOf = (slot) => ({ balances: [[0, 5]], signature: at(slot) });

  test('waits while a node behind a balancer is behind, and is not told twice', async () => {
    const node = nodeOf([5, 6, 7, 8], { finalized: 6, block: each });
    const watch = watchOf(node);
    await watch.look();
    for (const [finalized, named] of [
      [6, [5, 6, 7]],
      [5, [5, 6, 7]],
      [6, []],
      [7, [5, 6]],
      [6, [5, 6, 7, 8]],
    ] as const) {
      node.finalize(finalized);
      node.name([...named]);
      const look = await watch.look();
      expect([look.has(at(8)), look.height]).toEqual([true, finalized]);
      expect(look.fresh.map(({ txHash }) => txHash)).not.toContain(at(8));
    }
    node.finalize(8);
    node.name([5, 6, 7, 8, 9]);
    expect((await watch.look()).has(at(8))).toBe(false);
  });

  test('waits no more once other blocks have taken the place of its own', async () => {
    const fork: Record<number, Given> = { 9: { parent: hashAt(7) } };
    const block: BlockOf = (slot, numbers) => ({ ...each(slot, numbers), ...fork[slot] });
    const node = nodeOf([5, 6, 7, 8, 9, 10], { finalized: 6, block });
    node.name([5, 6, 7, 8]);
    const watch = watchOf(node);
    expect((await watch.look()).has(at(8))).toBe(true);
    node.name([5, 6, 7, 9, 10]);
    const look = await watch.look();
    expect([7, 8, 9, 10].map((slot) => look.has(at(slot)))).toEqual([true, false, true, true]);
  });

  test.each([
    ['is not given any more', null, false],
    ['is still given: the node has named too few', undefined, true],
    ['is another one', { hash: hashAt(8, 'D'), signature: '6'.repeat(88), balances: [[0, 7]] }, false],
  ] as [string, Given | null | undefined, boolean][])(
    'under a block that is not its child: it %s',
    async (_, later, waits) => {
      let isLater = false;
      const block: BlockOf = (slot, numbers) => {
        if (slot === 8 && isLater && later !== undefined) return later;
        return slot === 9 ? { parent: hashAt(8, 'D') } : each(slot, numbers);
      };
      const node = nodeOf([5, 6, 7, 8, 9], { finalized: 6, block });
      node.name([5, 6, 7, 8]);
      const watch = watchOf(node);
      await watch.look();
      isLater = true;
      node.name([5, 6, 7, 8, 9]);
      const look = await watch.look();
      expect([look.has(at(7)), look.has(at(8))]).toEqual([true, waits]);
      const isAnother = later?.signature !== undefined;
      expect(look.has('6'.repeat(88))).toBe(isAnother);
      expect(look.fresh.map(({ amount }) => amount)).toEqual(isAnother ? [7n] : []);
    },
  );
});
