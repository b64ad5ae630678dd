import type { Chain } from '@quittance/shared/assets';
import type { Queryable } from '@quittance/shared/db';
import {
  addressesAfter,
  addressesSince,
  addressOwners,
  countAddresses,
  type OurAddress,
} from './store/addresses.ts';

/** Rows per query while the filter is loaded. */
const READ_BATCH = 50_000;
const CAPACITY_MIN = 10_000;
/** With twelve bits per address and six hashes, about one foreign address in three hundred passes. */
const BITS_EACH = 12;
const HASHES = 6;

/**
 * A Bloom filter over our addresses. It rejects nearly all addresses of a block without a query to an index over a
 * million rows, which would cost more than the rest of the block. Addresses that pass are looked up. Before each
 * question the filter adds the addresses that were given out since the last one, which it reads from the database.
 */
export type AddressFilter = {
  /** Returns every address that is ours, and a few that are not. */
  among(db: Queryable, addresses: readonly string[]): Promise<string[]>;
};

/**
 * `since`: all addresses of older transactions are included. Loading builds a new object, so that it never mixes with
 * the one in use.
 */
type Filled = { bits: Uint32Array; capacity: number; count: number; since: string };

export function createAddressFilter(chain: Chain, capacityMin = CAPACITY_MIN): AddressFilter {
  let current: Filled | undefined;

  async function fill(db: Queryable): Promise<Filled> {
    // First, so that no address that is given out from now on is missed.
    const { next: since } = await addressesSince(db, chain, undefined);
    const capacity = Math.max(capacityMin, 2 * (await countAddresses(db, chain)));
    const filled: Filled = {
      bits: new Uint32Array(Math.ceil((capacity * BITS_EACH) / 32)),
      capacity,
      count: 0,
      since,
    };
    let some: string[] = [];
    do {
      some = await addressesAfter(db, chain, some.at(-1) ?? '', READ_BATCH);
      for (const address of some) add(filled, address);
    } while (some.length === READ_BATCH);
    return filled;
  }

  return {
    async among(db, addresses) {
      let filled = current ?? (await fill(db));
      const { since } = filled;
      let news = await addressesSince(db, chain, since);
      // After a failover, transaction numbers may start below those already seen. Then `since` finds nothing, and the
      // filter is loaded again.
      if (BigInt(news.next) < BigInt(since)) {
        filled = await fill(db);
        news = await addressesSince(db, chain, filled.since);
      }
      for (const address of news.given) add(filled, address);
      filled.since = news.next;
      // Beyond its capacity, too many addresses would pass: the next question loads a larger filter.
      current = filled.count > filled.capacity ? undefined : filled;
      return addresses.filter((address) => mayHave(filled, address));
    },
  };
}

function add(filled: Filled, address: string): void {
  const { bits } = filled;
  for (const bit of bitsOf(address, bits.length * 32))
    bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  filled.count += 1;
}

const mayHave = ({ bits }: Filled, address: string): boolean =>
  bitsOf(address, bits.length * 32).every((bit) => ((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0);

/** The bits of an address. All hashes are derived from two hashes of 32 bits (Kirsch and Mitzenmacher). */
function bitsOf(address: string, size: number): number[] {
  let one = 0x811c9dc5;
  let other = 0x9747b28c;
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
    other ^= other >>> 13;
  }
  const first = (one ^ (one >>> 16)) >>> 0;
  // The step is odd, so that successive bits differ.
  const step = ((other ^ (other >>> 15)) | 1) >>> 0;
  return Array.from({ length: HASHES }, (_, i) => (first + i * step) % size);
}

/** The owners of those addresses that are ours. The filter leaves few addresses for the query. */
export async function ourAddresses(
  db: Queryable,
  { chain, filter }: { chain: Chain; filter: AddressFilter },
  addresses: readonly string[],
): Promise<Map<string, OurAddress>> {
  if (addresses.length === 0) return new Map();
  const likely = await filter.among(db, addresses);
  if (likely.length === 0) return new Map();
  return await addressOwners(db, chain, likely);
}
