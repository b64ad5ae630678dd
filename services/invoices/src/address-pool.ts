import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Logger, reason } from '@quittance/shared/logger';
import type { AddressPool, SpareAddress } from './ports.ts';

/** Indexes taken from the database at once; deriving their addresses takes about three milliseconds. */
export const BLOCK_SIZE = 32;

export type AddressPoolParts = {
  /** The canonical addresses of indexes `from` … `from + count - 1`. */
  range(from: number, count: number): string[];
  /** The number of a block of indexes that nobody else takes. */
  nextBlock(): Promise<number>;
  /** How many addresses are kept ready. */
  ahead: number;
  logger: Logger;
};

/**
 * Addresses derived ahead, block by block, with a turn of the event loop in between. What is not given out
 * when the process ends is a gap in the indexes, and nothing else: each invoice keeps its own.
 */
export function createAddressPool({ range, nextBlock, ahead, logger }: AddressPoolParts): AddressPool {
  const spare: SpareAddress[] = [];
  let filling: Promise<void> | undefined;

  async function derive(): Promise<SpareAddress[]> {
    const from = (await nextBlock()) * BLOCK_SIZE;
    return range(from, BLOCK_SIZE).map((address, i) => ({ address, derivationIndex: from + i }));
  }

  async function fillUp(): Promise<void> {
    try {
      while (spare.length < ahead) {
        spare.push(...(await derive()));
        await nextTurn();
      }
    } catch (error) {
      logger.warn(
        { reason: reason(error) },
        'addresses cannot be derived ahead, trying again when one is needed',
      );
    } finally {
      filling = undefined;
    }
  }

  function fill(): Promise<void> {
    filling ??= fillUp();
    return filling;
  }

  return {
    fill,
    async take() {
      const ready = spare.shift();
      if (spare.length < ahead / 2) void fill();
      if (ready !== undefined) return ready;
      // Asked faster than they are derived: this one waits for a block of its own, and leaves the rest.
      const [first, ...rest] = await derive();
      if (first === undefined) throw new Error('a block of addresses is not empty');
      spare.push(...rest);
      return first;
    },
  };
}
