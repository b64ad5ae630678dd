import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Chain } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { gather } from '@quittance/shared/gather';
import { Unavailable } from '@quittance/shared/http';
import { type Logger, reason } from '@quittance/shared/logger';
import { type PoolAddress, takePoolAddresses } from './store/address-pool.ts';

/** Addresses derived ahead, so that no merchant waits for it. */
export type AddressPool = {
  take(): Promise<PoolAddress>;
  /** Derives until enough are ready; never throws. */
  fill(): Promise<void>;
};

/** How addresses that only the key holder can name are kept ready. */
export type PoolSettings = {
  /** How many, at least. */
  ahead: number;
  /** Whether a text is the canonical form of an address of this chain. */
  isAddress(text: string): boolean;
};

/** Under load so many stored addresses are taken in one statement, and so many statements are in flight. */
const TAKEN_MAX = 64;
const TAKES_IN_FLIGHT_MAX = 2;
/** Indexes reserved in the database at once. */
export const BLOCK_SIZE = 32;

export type DerivedPoolParts = {
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
export function derivedAddressPool({ addressAt, nextBlock, ahead, logger }: DerivedPoolParts): AddressPool {
  const spare: PoolAddress[] = [];
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
  async function derive(): Promise<PoolAddress> {
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

/** Addresses that the key holder named ahead: those of invoices made at the same moment are taken together. */
export function storedAddressPool(db: Db, chain: Chain): AddressPool {
  const takeBatched = gather<undefined, PoolAddress | undefined>({
    run: async (wanted) => {
      const taken = await takePoolAddresses(db, chain, wanted.length);
      return wanted.map((_, i) => taken[i]);
    },
    max: TAKEN_MAX,
    atOnce: TAKES_IN_FLIGHT_MAX,
  });
  return {
    async take() {
      const taken = await takeBatched(undefined);
      if (taken === undefined) throw new Unavailable(`no address of ${chain} is ready`);
      return taken;
    },
    // A worker refills them from the key holder.
    fill: () => Promise.resolve(),
  };
}
