import { expect, test } from '@jest/globals';
import { compareWithChain } from '../src/compare-with-chain.ts';
import type { GivenAddresses } from '../src/given-addresses.ts';
import { compareEach, DEPOSIT, records } from './comparison-fixture.ts';

/** Addresses that were given out against what is booked there. */

const at = compareEach();
const look = async (addresses: GivenAddresses) =>
  await compareWithChain(records(), { ...at.settings, usdcAddress: undefined } as never, { addresses });

const given = (other: Partial<GivenAddresses> = {}): GivenAddresses => ({
  inTurn: [DEPOSIT],
  addresses: [DEPOSIT],
  booked: [{ asset: 'ETH', address: DEPOSIT, amount: '60', moving: false }],
  left: [],
  dust: [{ asset: 'ETH', amount: '5' }],
  ...other,
});

test('a payment that was never written down is named, and pauses nothing', async () => {
  at.node.balances.set(DEPOSIT, 1_060n);
  const { discrepancies, addresses } = await look(given());
  expect(discrepancies).toEqual([
    {
      invariant: 'I5',
      asset: 'ETH',
      subject: `address ${DEPOSIT} ETH`,
      amount: 1_000n,
      what: `the address ${DEPOSIT} has 1060 ETH, and 60 is booked there`,
      isExcess: true,
    },
  ]);
  expect(addresses).toMatchObject({ inTurn: [DEPOSIT], lookedAt: [DEPOSIT] });
});

test.each<[string, bigint, Partial<GivenAddresses>, number]>([
  ['exactly what is booked', 60n, {}, 0],
  ['less than is booked: the reserves are short', 59n, {}, 0],
  ['dust beside it', 64n, {}, 0],
  ['as much as is no dust', 65n, {}, 1],
  ['what a sweep may have left', 74n, { left: [{ address: DEPOSIT, amount: '10' }] }, 0],
  ['more than a sweep may have left', 75n, { left: [{ address: DEPOSIT, amount: '10' }] }, 1],
])('an address with %s is named or not accordingly', async (_, there, other, count) => {
  at.node.balances.set(DEPOSIT, there);
  const { discrepancies } = await look(given(other));
  expect(discrepancies.filter(({ isExcess }) => isExcess)).toHaveLength(count);
});

test('an address that is being swept is left out', async () => {
  at.node.balances.set(DEPOSIT, 1_060n);
  const moving = [{ asset: 'ETH' as const, address: DEPOSIT, amount: '60', moving: true }];
  const { discrepancies, addresses } = await look(given({ booked: moving }));
  expect(discrepancies).toEqual([]);
  expect(addresses).toMatchObject({ inTurn: [DEPOSIT], lookedAt: [] });
});
