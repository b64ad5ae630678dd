import type { Chain } from '@quittance/shared/assets';
import type { Queryable } from '@quittance/shared/db';
import {
  addressesAfter,
  addressesSince,
  addressOwners,
  countAddresses,
  type OurAddress,
} from './store/addresses.ts';

/** So many are read at once when the filter is filled. */
const READ_BATCH = 50_000;
const CAPACITY_MIN = 10_000;
/** With twelve bits for each address and six of them set, one stranger in three hundred looks like ours. */
const BITS_EACH = 12;
const HASHES = 6;

/**
 * Rejects nearly all of a block's addresses without asking the database, whose index over a million addresses costs
 * more than all the rest of a block. A Bloom filter: what it lets pass has to be looked up, what it rejects is not ours.
 * Every question first adds what was given out since the last one, and that is read from the database.
 */
export type AddressFilter = {
  /** Those that may be ours, and every one that is. */
  among(db: Queryable, addresses: readonly string[]): Promise<string[]>;
};

/** `since`: all that older transactions gave out is in. One that is being filled and one in use never mix. */
type Filled = { bits: Uint32Array; capacity: number; count: number; since: string };

export function createAddressFilter(chain: Chain, capacityMin = CAPACITY_MIN): AddressFilter {
  let current: Filled | undefined;

  async function fill(db: Queryable): Promise<Filled> {
    // First of all: what is given out from now on is not to be missed.
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
      // After a failover the numbers of transactions may begin again below those that were seen: what they gave out
      // is not found from there on.
      if (BigInt(news.next) < BigInt(since)) {
        filled = await fill(db);
        news = await addressesSince(db, chain, filled.since);
      }
      for (const address of news.given) add(filled, address);
      filled.since = news.next;
      // A fuller one would let ever more pass; the next question fills a larger one.
      current = filled.count > filled.capacity ? undefined : filled;
      return addresses.filter((address) => mayHave(filled, address));
    },
  };
}

function add(filled: Filled, address: string): void {
  const { bits } = filled;
  const [one, other] = hashes(address);
  for (let i = 0; i < HASHES; i++) {
    const bit = (one + i * other) % (bits.length * 32);
    bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
  filled.count += 1;
}

function mayHave({ bits }: Filled, address: string): boolean {
  const [one, other] = hashes(address);
  for (let i = 0; i < HASHES; i++) {
    const bit = (one + i * other) % (bits.length * 32);
    if (((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

/** Two hashes of 32 bits give as many as are wanted (Kirsch and Mitzenmacher). */
function hashes(address: string): [number, number] {
  let one = 0x811c9dc5;
  let other = 0x9747b28c;
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
    other ^= other >>> 13;
  }
  // The second one odd, so that the steps do not fall on the same bit.
  return [(one ^ (one >>> 16)) >>> 0, ((other ^ (other >>> 15)) | 1) >>> 0];
}

/** Which of these addresses are ours: whatever their number, few are left to be looked up. */
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
