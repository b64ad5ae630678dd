import { type Chain, nativeAsset } from '@quittance/shared/assets';
import type { ChainDiscrepancy } from './chain-invariants.ts';
import type { ChainObserver } from './chain-observer.ts';
import type { GivenAddresses } from './given-addresses.ts';

export type ComparedAddresses = {
  inTurn: readonly string[];
  /** Those that were asked for. */
  lookedAt: readonly string[];
  /** Why none could be asked for. */
  failed?: string;
};

/**
 * I5 from the other side: from the addresses that were given out to what is booked. More than is booked is a payment that was
 * never written down; less shows in the reserves. Addresses from which a sweep is on its way are left out.
 */
export async function compareAddresses(
  { inTurn, addresses, booked, left, dust }: GivenAddresses,
  chain: Chain,
  observer: ChainObserver,
  height: number,
): Promise<ComparedAddresses & { discrepancies: ChainDiscrepancy[] }> {
  const moving = new Set(booked.filter((one) => one.moving).map(({ address }) => address));
  const asked = addresses.filter((address) => !moving.has(address));
  const bookedAt = new Map(
    booked.map(({ asset, address, amount }) => [`${asset} ${address}`, BigInt(amount)]),
  );
  const leftAt = new Map(left.map(({ address, amount }) => [address, BigInt(amount)]));
  const dustOf = new Map(dust.map(({ asset, amount }) => [asset, BigInt(amount)]));
  const discrepancies: ChainDiscrepancy[] = [];
  for (const asset of asked.length === 0 ? [] : observer.assets) {
    const amounts = await observer.balances(asset, asked, height);
    for (const [i, address] of asked.entries()) {
      const there = amounts[i] ?? 0n;
      const known = bookedAt.get(`${asset} ${address}`) ?? 0n;
      if (there <= known) continue;
      const amount = there - known;
      const mayRemain = asset === nativeAsset[chain] ? (leftAt.get(address) ?? 0n) : 0n;
      if (amount < (dustOf.get(asset) ?? 0n) + mayRemain) continue;
      discrepancies.push({
        invariant: 'I5',
        asset,
        subject: `address ${address} ${asset}`,
        amount,
        what: `the address ${address} has ${there} ${asset}, and ${known} is booked there`,
        isExcess: true,
      });
    }
  }
  return { inTurn, lookedAt: asked, discrepancies };
}
