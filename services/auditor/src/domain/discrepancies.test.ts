import { describe, expect, it, test } from '@jest/globals';
import { assetSymbols } from '@quittance/shared/assets';
import { type LastChecks, nextCheck } from './check-plan.ts';
import {
  assess,
  type CheckResult,
  type FoundDiscrepancy,
  type KnownDiscrepancy,
  withOutgrown,
} from './discrepancies.ts';

const discrepancy = (given: Partial<FoundDiscrepancy> = {}): FoundDiscrepancy => ({
  invariant: 'I2',
  subject: 'acc_1 ETH available 1',
  what: 'acc_1 ETH available shows 61, its entries say 60',
  asset: 'ETH',
  pausesPayouts: true,
  ...given,
});
const theRest = discrepancy({ subject: 'more of ETH', what: '150 more of ETH', isTheRest: true });
const known = (given: Partial<KnownDiscrepancy> = {}): KnownDiscrepancy => ({
  ...discrepancy(),
  times: 1,
  isAccepted: false,
  ...given,
});
const look = (seen: FoundDiscrepancy[], given: Partial<CheckResult> = {}): CheckResult => ({
  seen,
  isWhole: true,
  ...given,
});

describe('a discrepancy', () => {
  it('is suspected and halts nothing when it is found for the first time', () => {
    expect(assess([], look([discrepancy()]))).toMatchObject({
      suspected: [discrepancy()],
      confirmed: [],
      halts: [],
    });
  });

  it('halts its asset when it is found again, also when the balance has changed since', () => {
    const later = discrepancy({ what: 'acc_1 ETH available shows 71, its entries say 70' });
    const { suspected, confirmed, halts } = assess([known()], look([later]));
    expect({ suspected, confirmed, halts }).toEqual({
      suspected: [],
      confirmed: [later],
      halts: [{ asset: 'ETH', discrepancies: [later] }],
    });
    expect(assess([known({ times: 2 })], look([later]))).toMatchObject({
      confirmed: [],
      halts: [{ asset: 'ETH' }],
    });
  });

  it('halts all assets when it names none', () => {
    const { asset: _, ...nameless } = discrepancy();
    const { asset: __, ...knownNameless } = known();
    const { halts } = assess([knownNameless], look([nameless]));
    expect(halts.map(({ asset }) => asset)).toEqual(assetSymbols);
  });

  it('halts nothing when it can lose no money', () => {
    const late = discrepancy({ invariant: 'I7', pausesPayouts: false });
    const { confirmed, halts } = assess([known({ invariant: 'I7', pausesPayouts: false })], look([late]));
    expect({ confirmed, halts }).toEqual({ confirmed: [late], halts: [] });
  });

  it('halts nothing when an operator has accepted it, while another one does', () => {
    const other = discrepancy({ subject: 'acc_1 ETH available 2' });
    expect(assess([known({ times: 3, isAccepted: true })], look([discrepancy()])).halts).toEqual([]);
    const both = [known({ times: 3, isAccepted: true }), known({ subject: other.subject })];
    expect(assess(both, look([discrepancy(), other])).halts).toEqual([
      { asset: 'ETH', discrepancies: [other] },
    ]);
  });
});

test.each<[string, bigint | undefined, bigint | undefined, boolean]>([
  ['as much as was accepted', 5n, 5n, false],
  ['less than was accepted', 5n, 4n, false],
  ['one unit more than was accepted', 5n, 6n, true],
  ['nothing any more', 5n, 0n, false],
  ['as much on the other side', 5n, -5n, true],
  ['less on the other side', 5n, -4n, true],
  ['one unit more below', -5n, -6n, true],
  ['of an amount, and accepted without one', undefined, 1n, true],
  ['of no amount', undefined, undefined, false],
])('an accepted discrepancy that is %s: %#', (_, acceptedAmount, amount, isMore) => {
  const accepted = known({
    isAccepted: true,
    times: 3,
    ...(acceptedAmount === undefined ? {} : { acceptedAmount }),
  });
  const now = discrepancy(amount === undefined ? {} : { amount });
  const more = { ...now, subject: `${now.subject}, more than was accepted` };
  expect(withOutgrown([accepted], [now])).toEqual(isMore ? [now, more] : [now]);
  expect(withOutgrown([known()], [now])).toEqual([now]);
});

test.each<[string, Partial<KnownDiscrepancy>, Partial<CheckResult>, boolean]>([
  ['a check of every row does not find any more', {}, {}, true],
  ['a check of new rows does not find', {}, { isWhole: false }, false],
  [
    'cannot lose money, and a check of new rows does not find',
    { pausesPayouts: false },
    { isWhole: false },
    true,
  ],
  ['may be among those that were too many to be named', {}, { seen: [theRest] }, false],
  [
    'is not found, while another of its invariant is',
    {},
    { seen: [discrepancy({ subject: 'acc_2' })] },
    true,
  ],
  ['is found again', {}, { seen: [discrepancy()] }, false],
  ['is of another invariant than those', { invariant: 'I3' }, { seen: [theRest] }, true],
  ['is of another asset than those', { asset: 'SOL' }, { seen: [theRest] }, true],
  ['its chain does not show any more', { chain: 'ethereum' }, { chain: 'ethereum' }, true],
  ['another chain does not show', { chain: 'solana' }, { chain: 'ethereum' }, false],
  ['a check of the records alone does not find', { chain: 'solana' }, {}, false],
  ['a chain does not show', {}, { chain: 'ethereum' }, false],
  ['was checked again, and is not found', {}, { invariants: new Set(['I2']) }, true],
  ['was not checked again', {}, { invariants: new Set(['I3']) }, false],
  [
    'an address that was looked at does not show',
    { subject: 'address 0xa ETH' },
    { unlooked: new Set<string>() },
    true,
  ],
  [
    'is of an address that was not looked at',
    { subject: 'address 0xa ETH' },
    { unlooked: new Set(['address 0xa ETH']) },
    false,
  ],
])('a discrepancy that %s is resolved: %#', (_, of, given, isResolved) => {
  expect(assess([known(of)], look([], given)).resolved).toHaveLength(isResolved ? 1 : 0);
});

describe('the next check', () => {
  const pace = { checkEveryMs: 60_000, wholeEveryMs: 24 * 3_600_000 };
  const last = (given: Partial<LastChecks>): LastChecks => ({
    ageMs: 60_000,
    wholeAgeMs: 3_600_000,
    suspected: [],
    confirmed: 0,
    seenChains: new Set(['ethereum']),
    ...given,
  });

  it.each<[string, Partial<LastChecks>, string | undefined]>([
    ['of a new installation covers every row', { ageMs: null, wholeAgeMs: null }, 'whole'],
    ['covers every row where nothing is known of the last one', { ageMs: null }, 'whole'],
    ['covers every row where that was never done', { ageMs: 0, wholeAgeMs: null }, 'whole'],
    ['covers new rows, every minute', {}, 'recent'],
    ['waits for its minute', { ageMs: 59_999 }, undefined],
    ['does not follow at once', { ageMs: 0 }, undefined],
    ['is due when the last one ended in the future', { ageMs: -3_600_000 }, 'recent'],
    [
      'covers every row when the last check of every row ended in the future',
      { wholeAgeMs: -3_600_000 },
      'whole',
    ],
    ['covers every row once a day', { wholeAgeMs: 86_400_000 }, 'whole'],
    [
      'waits 15 s when money may be in motion',
      { ageMs: 14_999, suspected: [{ invariant: 'I2' }] },
      undefined,
    ],
    ['comes after 15 s then', { ageMs: 15_000, suspected: [{ invariant: 'I2' }] }, 'again'],
    [
      'does not come sooner for a chain whose node cannot be asked',
      { ageMs: 59_999, suspected: [{ invariant: 'I6', chain: 'solana' }] },
      undefined,
    ],
    [
      'does not cover every row for such a chain either',
      { suspected: [{ invariant: 'I6', chain: 'solana' }] },
      'recent',
    ],
    ['covers new rows while a discrepancy is confirmed', { confirmed: 1, wholeAgeMs: 899_999 }, 'recent'],
    ['covers every row every 15 minutes then', { confirmed: 1, wholeAgeMs: 900_000 }, 'whole'],
  ])('%s', (_, given, expected) => {
    expect(nextCheck(last(given), pace)?.scope).toBe(expected);
  });

  it('keeps a pace that is faster than that', () => {
    const faster = { checkEveryMs: 5_000, wholeEveryMs: 60_000 };
    expect(nextCheck(last({ ageMs: 5_000, suspected: [{ invariant: 'I2' }] }), faster)?.scope).toBe('again');
    expect(nextCheck(last({ wholeAgeMs: 60_000, confirmed: 1 }), faster)?.scope).toBe('whole');
  });

  it('comes sooner for a suspected discrepancy, and checks that one only', () => {
    const suspected = [{ invariant: 'I2' }, { invariant: 'I6', chain: 'ethereum' }];
    expect(nextCheck(last({ ageMs: 15_000, suspected }), pace)).toEqual({
      scope: 'again',
      invariants: new Set(['I2']),
      chains: new Set(['ethereum']),
    });
  });
});
