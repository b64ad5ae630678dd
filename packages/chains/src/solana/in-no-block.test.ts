import { describe, expect, test } from '@jest/globals';
import { type Rpc, RpcRefused, RpcUnavailable } from '../json-rpc.ts';
import { createSolanaSender } from './sender.ts';
import { openWallet } from './wallet.ts';

const wallet = openWallet(`${'abandon '.repeat(11)}about`);
const OURS = '3'.repeat(88);
const OTHER = '5'.repeat(88);
/** What was finalized when it was signed, and the last height it is valid at. */
const [FROM, LAST_HEIGHT] = [1_000, 705];

type Block = {
  blockhash: string;
  previousBlockhash: string;
  parentSlot: number;
  blockHeight: number | null;
  signatures: string[];
};

const hashAt = (slot: number) => `A${String(slot).replaceAll('0', 'z')}`.padEnd(44, '1');

/** Blocks from slot 1000 on, every fourth slot skipped, of heights from 500 on: 206 of them up to height 705. */
function chainOf(count: number): Map<number, Block> {
  const chain = new Map<number, Block>();
  let parentSlot = FROM - 1;
  for (let slot = FROM; chain.size < count; slot++) {
    if (slot % 4 === 3) continue;
    const place = { parentSlot, blockHeight: 500 + chain.size };
    const hashes = { blockhash: hashAt(slot), previousBlockhash: hashAt(parentSlot) };
    chain.set(slot, { ...place, ...hashes, signatures: [OTHER] });
    parentSlot = slot;
  }
  return chain;
}

type Script = { named?: number[]; give?: (slot: number) => Block | Error | null | undefined };

/** A node that is far enough, has no status of the transaction, and these blocks. */
function isDeadOn(chain: Map<number, Block>, { named, give }: Script = {}, from = FROM) {
  const rpc: Rpc = {
    async call(method, params) {
      switch (method) {
        case 'getEpochInfo':
          return { absoluteSlot: 5_000, blockHeight: 4_000 };
        case 'getBlockHeight':
          return 4_000;
        case 'getSignatureStatuses':
          return { context: { slot: 5_000 }, value: [null] };
        case 'getBlocksWithLimit': {
          const [first, limit, config] = params as [number, number, unknown];
          expect(config).toEqual({ commitment: 'finalized' });
          return (named ?? [...chain.keys()]).filter((slot) => slot >= first).slice(0, limit);
        }
        case 'getBlock': {
          const [slot, config] = params as [number, unknown];
          expect(config).toMatchObject({ commitment: 'finalized', transactionDetails: 'signatures' });
          const scripted = give?.(slot);
          const answer = scripted === undefined ? (chain.get(slot) ?? null) : scripted;
          if (answer instanceof Error) throw answer;
          return answer;
        }
        default:
          throw new Error(`nobody expected ${method}`);
      }
    },
    batch: () => Promise.reject(new Error('no batches')),
    close: () => Promise.resolve(),
  };
  return createSolanaSender({ rpc, network: { name: 'local' }, wallet }).isDead(OURS, LAST_HEIGHT, from);
}

const slotOf = (chain: Map<number, Block>, height: number): number => {
  for (const [slot, block] of chain) if (block.blockHeight === height) return slot;
  throw new Error('no such height');
};
const at = (chain: Map<number, Block>, height: number): Block => chain.get(slotOf(chain, height)) as Block;

describe('a transaction without a status', () => {
  test('is dead when no block up to the first above its last height has it', async () => {
    expect(await isDeadOn(chainOf(207))).toBe(true);
    // Later blocks are not asked for.
    const chain = chainOf(220);
    chain.set(slotOf(chain, 719), { ...at(chain, 719), signatures: [OURS] });
    expect(await isDeadOn(chain)).toBe(true);
  });

  test('is dead also when the slot where the search begins was skipped', async () => {
    const chain = chainOf(207);
    expect(await isDeadOn(chain, {}, FROM - 1)).toBe(true);
    expect(await isDeadOn(chain, {}, FROM + 3)).toBe(true);
  });

  test.each([500, 501, 600, 705])('is not dead when it is in the block of height %i', async (height) => {
    const chain = chainOf(210);
    at(chain, height).signatures = [OTHER, OURS];
    await expect(isDeadOn(chain)).rejects.toMatchObject({
      name: 'StatusMissing',
      message: expect.stringContaining(`slot ${slotOf(chain, height)}`),
    });
  });

  const unproved = async (proof: Promise<boolean>) =>
    await expect(proof).rejects.toBeInstanceOf(RpcUnavailable);

  test('is not proved dead by a node whose blocks begin later: it was started from a snapshot', async () => {
    const chain = chainOf(210);
    const later = [...chain.keys()].slice(2);
    await unproved(isDeadOn(chain, { named: later }));
    // Not even when all that it has is above that height.
    await unproved(isDeadOn(chain, { named: [...chain.keys()].slice(207) }));
    await unproved(isDeadOn(chain, { named: [] }));
  });

  test.each([501, 600, 699, 700, 705])('is not proved dead over a hole at height %i', async (height) => {
    const chain = chainOf(210);
    const gone = slotOf(chain, height);
    await unproved(isDeadOn(chain, { named: [...chain.keys()].filter((slot) => slot !== gone) }));
    const skipped = new RpcRefused('getBlock', -32_009, 'Slot was skipped, or missing in long-term storage');
    for (const answer of [null, skipped]) {
      await unproved(isDeadOn(chain, { give: (slot) => (slot === gone ? answer : undefined) }));
    }
    const cleaned = new RpcRefused('getBlock', -32_001, 'Block cleaned up');
    await expect(isDeadOn(chain, { give: (slot) => (slot === gone ? cleaned : undefined) })).rejects.toBe(
      cleaned,
    );
  });

  test('is not proved dead before there is a block above its last height', async () => {
    await unproved(isDeadOn(chainOf(206)));
  });

  test.each<[string, Partial<Block>]>([
    ['another parent', { previousBlockhash: hashAt(7) }],
    ['another hash', { blockhash: hashAt(7) }],
    ['another parent slot', { parentSlot: 7 }],
    ['no height', { blockHeight: null }],
  ])('is not proved dead by blocks that do not fit: %s', async (_, wrong) => {
    const chain = chainOf(210);
    Object.assign(at(chain, 601), wrong);
    await unproved(isDeadOn(chain));
  });
});
