import { describe, expect, test } from '@jest/globals';
import { scriptedRpc } from '@quittance/testkit/scripted-node';
import { RpcRefused, RpcUnavailable } from '../json-rpc.ts';
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

const proofOn = (chain: Map<number, Block>, script: Script = {}, from = FROM) =>
  senderOn(chain, script).nonInclusion(OURS, LAST_HEIGHT, from);

/** Of a node that is far enough, has no status of any transaction, and these blocks. */
function senderOn(chain: Map<number, Block>, { named, give }: Script) {
  const rpc = scriptedRpc((method, params) => {
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
        return scripted === undefined ? (chain.get(slot) ?? null) : scripted;
      }
      default:
        throw new Error(`nobody expected ${method}`);
    }
  });
  return createSolanaSender({ rpc, network: { name: 'local' }, wallet });
}

const slotOf = (chain: Map<number, Block>, height: number): number => {
  for (const [slot, block] of chain) if (block.blockHeight === height) return slot;
  throw new Error('no such height');
};
const at = (chain: Map<number, Block>, height: number): Block => chain.get(slotOf(chain, height)) as Block;

describe('a transaction without a status', () => {
  test('is dead when no block up to the first above its last height has it', async () => {
    expect(await proofOn(chainOf(207))).toBe('proven');
    // Later blocks are not asked for.
    const chain = chainOf(220);
    chain.set(slotOf(chain, 719), { ...at(chain, 719), signatures: [OURS] });
    expect(await proofOn(chain)).toBe('proven');
  });

  test('is dead also when the slot where the search begins was skipped', async () => {
    const chain = chainOf(207);
    expect(await proofOn(chain, {}, FROM - 1)).toBe('proven');
    expect(await proofOn(chain, {}, FROM + 3)).toBe('proven');
  });

  test.each([500, 501, 600, 705])('is not dead when it is in the block of height %i', async (height) => {
    const chain = chainOf(210);
    at(chain, height).signatures = [OTHER, OURS];
    await expect(proofOn(chain)).rejects.toMatchObject({
      name: 'StatusMissing',
      message: expect.stringContaining(`slot ${slotOf(chain, height)}`),
    });
  });

  test('is searched for in blocks that were read for others, as long as there are not too many', async () => {
    const chain = chainOf(820);
    at(chain, 600).signatures = [OURS];
    const read: number[] = [];
    const sender = senderOn(chain, {
      give(slot) {
        read.push(slot);
        return undefined;
      },
    });
    const others = Array.from({ length: 50 }, (_, i) => `${i + 11}`.replaceAll('0', 'z').padEnd(88, '4'));
    const proofs = others.map((other) => sender.nonInclusion(other, LAST_HEIGHT, FROM));
    expect(await Promise.all(proofs)).toEqual(others.map(() => 'proven'));
    await expect(sender.nonInclusion(OURS, LAST_HEIGHT, FROM)).rejects.toMatchObject({
      name: 'StatusMissing',
    });
    // The first above the last height, and up to three that are asked for with it.
    expect(new Set(read).size).toBe(read.length);
    expect(read.length).toBeLessThanOrEqual(210);
    // So many later that none of these is kept.
    expect(await sender.nonInclusion(others[0] as string, 1_315, slotOf(chain, 1_000))).toBe('proven');
    const before = read.length;
    expect(await sender.nonInclusion(others[1] as string, LAST_HEIGHT, FROM)).toBe('proven');
    expect(read.length - before).toBeGreaterThanOrEqual(206);
  });

  test('is searched for again where blocks did not fit or could not be read', async () => {
    const chain = chainOf(210);
    const wrong: (Partial<Block> | Error)[] = [
      { previousBlockhash: hashAt(7) },
      new RpcUnavailable('a', 'b'),
    ];
    const sender = senderOn(chain, {
      give(slot) {
        if (slot !== slotOf(chain, 601)) return undefined;
        const next = wrong.shift();
        if (next === undefined) return undefined;
        return next instanceof Error ? next : { ...at(chain, 601), ...next };
      },
    });
    await unproved(sender.nonInclusion(OURS, LAST_HEIGHT, FROM));
    await unproved(sender.nonInclusion(OURS, LAST_HEIGHT, FROM));
    expect(await sender.nonInclusion(OURS, LAST_HEIGHT, FROM)).toBe('proven');
  });

  const unproved = async (proof: Promise<unknown>) =>
    await expect(proof).rejects.toBeInstanceOf(RpcUnavailable);

  test('is not proved dead by a node whose blocks begin later: it was started from a snapshot', async () => {
    const chain = chainOf(210);
    const later = [...chain.keys()].slice(2);
    await unproved(proofOn(chain, { named: later }));
    // Not even when all that it has is above that height.
    await unproved(proofOn(chain, { named: [...chain.keys()].slice(207) }));
    await unproved(proofOn(chain, { named: [] }));
  });

  test.each([501, 600, 699, 700, 705])('is not proved dead over a hole at height %i', async (height) => {
    const chain = chainOf(210);
    const missing = slotOf(chain, height);
    await unproved(proofOn(chain, { named: [...chain.keys()].filter((slot) => slot !== missing) }));
    const skipped = new RpcRefused('getBlock', -32_009, 'Slot was skipped, or missing in long-term storage');
    for (const answer of [null, skipped]) {
      await unproved(proofOn(chain, { give: (slot) => (slot === missing ? answer : undefined) }));
    }
    const cleaned = new RpcRefused('getBlock', -32_001, 'Block cleaned up');
    await expect(proofOn(chain, { give: (slot) => (slot === missing ? cleaned : undefined) })).rejects.toBe(
      cleaned,
    );
  });

  test('is not proved dead before there is a block above its last height', async () => {
    await unproved(proofOn(chainOf(206)));
  });

  test.each<[string, Partial<Block>]>([
    ['another parent', { previousBlockhash: hashAt(7) }],
    ['another hash', { blockhash: hashAt(7) }],
    ['another parent slot', { parentSlot: 7 }],
    ['no height', { blockHeight: null }],
  ])('is not proved dead by blocks that do not fit: %s', async (_, wrong) => {
    const chain = chainOf(210);
    Object.assign(at(chain, 601), wrong);
    await unproved(proofOn(chain));
  });
});
