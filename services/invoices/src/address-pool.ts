import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Logger, reason } from '@quittance/shared/logger';
import type { AddressPool, SpareAddress } from './ports.ts';

/** Indexes reserved in the database at once. */
export const BLOCK_SIZE = 32;

export type AddressPoolParts = {
  /** The canonical address of an index. */
  addressAt(index: number): string;
  /** The number of a block of indexes that no other pool takes. */
  nextBlock(): Promise<number>;
  /** How many addresses are kept ready. */
  ahead: number;
  logger: Logger;
};

/**
 * Addresses derived ahead, in blocks of indexes. Indexes that are not given out when the process ends stay unused:
 * each invoice keeps its own.
 */
export function createAddressPool({ addressAt, nextBlock, ahead, logger }: AddressPoolParts): AddressPool {
  const spare: SpareAddress[] = [];
  const reserved: number[] = [];
  let reserving: Promise<void> | undefined;
  let turn: Promise<void> = Promise.resolve();
  let filling: Promise<void> | undefined;

  async function reserve(): Promise<void> {
    const from = (await nextBlock()) * BLOCK_SIZE;
    reserved.push(...Array.from({ length: BLOCK_SIZE }, (_, i) => from + i));
  }

  async function nextIndex(): Promise<number> {
    for (;;) {
      const index = reserved.shift();
      if (index !== undefined) return index;
      reserving ??= reserve().finally(() => {
        reserving = undefined;
      });
      await reserving;
    }
  }

  /** Deriving takes a millisecond, so each address has a turn of the event loop of its own: nothing else waits longer. */
  async function derive(): Promise<SpareAddress> {
    const derivationIndex = await nextIndex();
    turn = turn.then(() => nextTurn());
    await turn;
    return { address: addressAt(derivationIndex), derivationIndex };
  }

  async function fillUp(): Promise<void> {
    try {
      while (spare.length < ahead) spare.push(await derive());
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
      return ready ?? (await derive());
    },
  };
}
