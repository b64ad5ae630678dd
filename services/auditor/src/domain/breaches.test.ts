import { describe, expect, it, test } from '@jest/globals';
import { assetSymbols } from '@quittance/shared/assets';
import { assess, type CheckResult, type KnownBreach, type SeenBreach, withOutgrown } from './breaches.ts';
import { type LastChecks, nextCheck } from './check-plan.ts';

const breach = (given: Partial<SeenBreach> = {}): SeenBreach => ({
  invariant: 'I2',
  subject: 'acc_1 ETH available 1',
  what: 'acc_1 ETH available shows 61, its entries say 60',
  asset: 'ETH',
  pausesPayouts: true,
  ...given,
});
const theRest = breach({ subject: 'more of ETH', what: '150 more of ETH', isTheRest: true });
const known = (given: Partial<KnownBreach> = {}): KnownBreach => ({
  ...breach(),
  times: 1,
  isAccepted: false,
  ...given,
});
const look = (seen: SeenBreach[], given: Partial<CheckResult> = {}): CheckResult => ({
  seen,
  isWhole: true,
  ...given,
});

describe('a breach', () => {
  it('that is seen for the first time is suspected, and halts nothing', () => {
    expect(assess([], look([breach()]))).toMatchObject({ suspected: [breach()], confirmed: [], halts: [] });
  });

  it('that is seen again halts its asset, also when money has moved on around it', () => {
    const later = breach({ what: 'acc_1 ETH available shows 71, its entries say 70' });
    const { suspected, confirmed, halts } = assess([known()], look([later]));
    expect({ suspected, confirmed, halts }).toEqual({
      suspected: [],
      confirmed: [later],
      halts: [{ asset: 'ETH', breaches: [later] }],
    });
    expect(assess([known({ times: 2 })], look([later]))).toMatchObject({
      confirmed: [],
      halts: [{ asset: 'ETH' }],
    });
  });

  it('that names no asset halts all', () => {
    const { asset: _, ...nameless } = breach();
    const { asset: __, ...knownNameless } = known();
    const { halts } = assess([knownNameless], look([nameless]));
    expect(halts.map(({ asset }) => asset)).toEqual(assetSymbols);
  });

  it('that loses no money halts nothing', () => {
    const late = breach({ invariant: 'I7', pausesPayouts: false });
    const { confirmed, halts } = assess([known({ invariant: 'I7', pausesPayouts: false })], look([late]));
    expect({ confirmed, halts }).toEqual({ confirmed: [late], halts: [] });
  });

  it('that an operator has accepted halts nothing, another one does', () => {
    const other = breach({ subject: 'acc_1 ETH available 2' });
    expect(assess([known({ times: 3, isAccepted: true })], look([breach()])).halts).toEqual([]);
    const both = [known({ times: 3, isAccepted: true }), known({ subject: other.subject })];
    expect(assess(both, look([breach(), other])).halts).toEqual([{ asset: 'ETH', breaches: [other] }]);
  });
});

test.each<[string, bigint | undefined, bigint | undefined, boolean]>([
  ['as much as was accepted', 5n, 5n, false],
  ['less than was accepted', 5n, 4n, false],
  ['one unit more than was accepted', 5n, 6n, true],
  ['as much on the other side', 5n, -5n, true],
  ['one unit more below', -5n, -6n, true],
  ['of an amount, and accepted without one', undefined, 1n, true],
  ['of no amount', undefined, undefined, false],
])('a breach that is %s: %#', (_, acceptedAmount, amount, isMore) => {
  const accepted = known({
    isAccepted: true,
    times: 3,
    ...(acceptedAmount === undefined ? {} : { acceptedAmount }),
  });
  const now = breach(amount === undefined ? {} : { amount });
  const more = { ...now, subject: `${now.subject}, more than was accepted` };
  expect(withOutgrown([accepted], [now])).toEqual(isMore ? [now, more] : [now]);
  expect(withOutgrown([known()], [now])).toEqual([now]);
});

test.each<[string, Partial<KnownBreach>, Partial<CheckResult>, boolean]>([
  ['a whole look does not find any more', {}, {}, true],
  ['a look at what is new does not find', {}, { isWhole: false }, false],
  ['is late, and a look at what is new does not find', { pausesPayouts: false }, { isWhole: false }, true],
  ['may be among those that were too many to be named', {}, { seen: [theRest] }, false],
  ['is of another asset than those', { asset: 'SOL' }, { seen: [theRest] }, true],
  ['its chain does not show any more', { chain: 'ethereum' }, { chain: 'ethereum' }, true],
  ['another chain does not show', { chain: 'solana' }, { chain: 'ethereum' }, false],
  ['the books alone do not show', { chain: 'solana' }, {}, false],
  ['a chain does not show', {}, { chain: 'ethereum' }, false],
  ['was asked about again, and is not found', {}, { invariants: new Set(['I2']) }, true],
  ['was not asked about again', {}, { invariants: new Set(['I3']) }, false],
])('what %s is gone: %#', (_, of, given, isGone) => {
  expect(assess([known(of)], look([], given)).gone).toHaveLength(isGone ? 1 : 0);
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
    ['of a new installation is whole', { ageMs: undefined, wholeAgeMs: undefined }, 'whole'],
    ['is of what is new, every minute', {}, 'recent'],
    ['waits for its minute', { ageMs: 59_999 }, undefined],
    ['is due when the last one ended in the future', { ageMs: -3_600_000 }, 'recent'],
    ['is whole when the last whole one did', { wholeAgeMs: -3_600_000 }, 'whole'],
    ['is whole once a day', { wholeAgeMs: 86_400_000 }, 'whole'],
    ['gives money in motion a moment', { ageMs: 14_999, suspected: [{ invariant: 'I2' }] }, undefined],
    [
      'is not in a hurry for a chain whose node cannot be asked',
      { ageMs: 59_999, suspected: [{ invariant: 'I6', chain: 'solana' }] },
      undefined,
    ],
    ['is not whole for such a chain either', { suspected: [{ invariant: 'I6', chain: 'solana' }] }, 'recent'],
    [
      'is of what is new while something is known to be wrong',
      { confirmed: 1, wholeAgeMs: 899_999 },
      'recent',
    ],
    ['is whole every quarter of an hour then', { confirmed: 1, wholeAgeMs: 900_000 }, 'whole'],
  ])('%s', (_, given, expected) => {
    expect(nextCheck(last(given), pace)?.extent).toBe(expected);
  });

  it('comes sooner when something looks wrong, and asks again about that only', () => {
    const suspected = [{ invariant: 'I2' }, { invariant: 'I6', chain: 'ethereum' }];
    expect(nextCheck(last({ ageMs: 15_000, suspected }), pace)).toEqual({
      extent: 'again',
      invariants: new Set(['I2']),
      chains: new Set(['ethereum']),
    });
  });
});
