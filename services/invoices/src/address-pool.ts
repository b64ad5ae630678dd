import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Chain } from '@quittance/shared/assets';
import { ADDRESSES_PER_REQUEST } from '@quittance/shared/commands';
import type { Db } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { Unavailable } from '@quittance/shared/http';
import { type Logger, reason } from '@quittance/shared/logger';
import { requestBatcher } from '@quittance/shared/request-batcher';
import type { AddressPool, PoolSettings, Ports } from './ports.ts';
import {
  countPoolAddresses,
  nextPoolIndex,
  type PoolAddress,
  savePoolAddresses,
  takePoolAddresses,
} from './store/addresses.ts';

/** Limits of batched requests: addresses per statement, and statements in flight. */
const BATCHES = { max: 64, atOnce: 2 };
/** How many indexes one block reserves in the database. */
export const BLOCK_SIZE = 32;

export type DerivedPoolParts = {
  /** The canonical address of an index. */
  addressAt(index: number): string;
  /** Reserves a block of indexes for this pool and returns its number. */
  nextBlock(): Promise<number>;
  /** How many addresses are kept ready at most: see `derivedAddressPool`. */
  ahead: number;
  logger: Logger;
};

/**
 * A pool that derives addresses from a public key, in blocks of indexes. Indexes that are unused when the process
 * ends stay unused: the index is stored with each address. It keeps one block ready at first, and twice as many each time half
 * of them are taken, up to `ahead`: deriving hundreds takes as long as the rest of a start.
 */
export function derivedAddressPool({ addressAt, nextBlock, ahead, logger }: DerivedPoolParts): AddressPool {
  const derived: PoolAddress[] = [];
  const reserved: number[] = [];
  let reserving: Promise<void> | undefined;
  let turn: Promise<void> = Promise.resolve();
  let filling: Promise<void> | undefined;
  let wanted = Math.min(BLOCK_SIZE, ahead);

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

  /**
   * Deriving takes a millisecond. Each derivation has its own turn of the event loop, so that nothing else waits
   * longer.
   */
  async function derive(): Promise<PoolAddress> {
    const derivationIndex = await nextIndex();
    turn = turn.then(() => nextTurn());
    await turn;
    return { address: addressAt(derivationIndex), derivationIndex };
  }

  async function fillUp(): Promise<void> {
    try {
      while (derived.length < wanted) derived.push(await derive());
    } catch (error) {
      logger.warn(
        { reason: reason(error) },
        'the address pool cannot be filled; the next invoice tries again',
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
      const ready = derived.shift();
      if (derived.length < wanted / 2 && filling === undefined) {
        wanted = Math.min(2 * wanted, ahead);
        void fill();
      }
      return ready ?? (await derive());
    },
  };
}

/** A pool of addresses that the signer derived and the database stores. Requests at the same moment share a statement. */
export function storedAddressPool(db: Db, chain: Chain): AddressPool {
  const takeBatched = requestBatcher<undefined, PoolAddress | undefined>({
    run: async (wanted) => {
      const taken = await takePoolAddresses(db, chain, wanted.length);
      return wanted.map((_, i) => taken[i]);
    },
    ...BATCHES,
  });
  return {
    async take() {
      const taken = await takeBatched(undefined);
      if (taken === undefined) throw new Unavailable(`no address of ${chain} is ready`);
      return taken;
    },
    // A worker refills the pool.
    fill: () => Promise.resolve(),
  };
}

/**
 * Asks the signer for addresses before they are needed, so that invoices can be created while it is down. Any
 * replica may run it: of two that ask for the same indexes, one saves them.
 * @returns how many were added; 0 when the pool is full
 */
export async function refillAddressPool(
  { db, bus, logger }: Pick<Ports, 'db' | 'bus' | 'logger'>,
  chain: Chain,
  { ahead, isAddress }: PoolSettings,
): Promise<number> {
  // Read first: what another replica saves later either shows in the count, or has moved this index.
  const from = await nextPoolIndex(db, chain);
  const ready = await countPoolAddresses(db, chain, ahead);
  if (ready >= ahead) return 0;
  const count = Math.min(ADDRESSES_PER_REQUEST, ahead - ready);
  const asked = await bus.ask('addresses.derive', { chain, from, count });
  if (!asked.known) {
    throw new Error(`the signer does not derive addresses of ${chain} (${ready} are left): ${asked.reason}`);
  }
  const { addresses } = asked.reply;
  const isGood =
    addresses.length === count && new Set(addresses).size === count && addresses.every(isAddress);
  if (!isGood) throw new Error(`the signer returned invalid addresses of ${chain}, or not ${count}`);
  failpoint('invoices.pool_derived');
  const saved = await savePoolAddresses(db, chain, from, addresses);
  failpoint('invoices.pool_saved');
  if (saved > 0) logger.debug({ chain, from, saved }, 'addresses are ready');
  return saved;
}
