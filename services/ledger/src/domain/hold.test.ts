import { describe, expect, it } from '@jest/globals';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { type EndingHold, endHold, type HoldEnd, type HoldState, outcomeOf, sameContents } from './hold.ts';
import type { LedgerPayout } from './posting.ts';

const payout: LedgerPayout = {
  id: '7' as PayoutId,
  account: 'acc_1' as AccountId,
  asset: 'ETH',
  amount: units(100n),
  networkFee: units(5n),
  deposit: null,
};
const aHold = (state: HoldState): EndingHold => ({ ...payout, state, back: 'available' });
const tombstone: EndingHold = {
  ...payout,
  amount: null,
  networkFee: null,
  state: 'voided',
  back: 'available',
};

const settle: HoldEnd = { to: 'settled' };
const release: HoldEnd = { to: 'released', feeKept: false };
const releaseWithFee: HoldEnd = { to: 'released', feeKept: true };
const giveUp: HoldEnd = { to: 'voided' };

/** The op it books, nothing, or why not. */
function outcome(hold: EndingHold | undefined, end: HoldEnd, said: Parameters<typeof endHold>[2] = payout) {
  const result = endHold(hold, end, said);
  return result.ok ? (result.value?.op ?? 'nothing') : result.refusal;
}

describe('ending a hold', () => {
  it.each<[string, EndingHold | undefined, settled: string, released: string, givenUp: string]>([
    ['placed', aHold('placed'), 'settle:7', 'release:7', 'release:7'],
    ['settled', aHold('settled'), 'settle:7', 'illegal', 'illegal'],
    ['released', aHold('released'), 'illegal', 'release:7', 'illegal'],
    ['voided', aHold('voided'), 'illegal', 'illegal', 'release:7'],
    ['refused', aHold('refused'), 'illegal', 'illegal', 'nothing'],
    ['given up before it was asked for', tombstone, 'illegal', 'illegal', 'nothing'],
    ['not known', undefined, 'unknown', 'unknown', 'unknown'],
  ])('that is %s', (_what, hold, ...expected) => {
    expect([settle, release, giveUp].map((end) => outcome(hold, end))).toEqual(expected);
    expect(outcome(hold, releaseWithFee)).toBe(expected[1]);
  });

  it.each<[string, Partial<LedgerPayout>]>([
    ['account', { account: 'acc_2' as AccountId }],
    ['asset', { asset: 'USDC_ERC20' }],
    ['amount', { amount: units(101n) }],
    ['fee', { networkFee: units(6n) }],
  ])('with another %s is refused', (_what, other) => {
    for (const end of [settle, release, giveUp]) {
      expect(outcome(aHold('placed'), end, { ...payout, ...other })).toBe('other_contents');
    }
  });

  it('without amounts is taken by the account and the asset', () => {
    expect(outcome(aHold('placed'), giveUp, { account: payout.account, asset: 'ETH' })).toBe('release:7');
    expect(outcome(tombstone, giveUp, { account: 'acc_2' as AccountId, asset: 'ETH' })).toBe(
      'other_contents',
    );
  });
});

describe('the money of a hold that ends without a payout', () => {
  const deposit = 'dep_1' as DepositId;
  it.each<[string, Partial<EndingHold>, string]>([
    ['of a balance goes back to it', { deposit: null, back: 'available' }, 'available'],
    ['of an unresolved deposit waits again', { deposit, back: 'unresolved' }, 'unresolved'],
    ['of a dropped deposit recovers the write-off', { deposit, back: 'loss' }, 'loss'],
  ])('%s', (_what, of, bucket) => {
    for (const end of [release, releaseWithFee, giveUp]) {
      const ended = endHold({ ...aHold('placed'), ...of } as EndingHold, end, {
        account: payout.account,
        asset: 'ETH',
      });
      const entries = ended.ok ? ended.value?.entries : undefined;
      const amount = end === releaseWithFee ? 100n : 105n;
      expect(entries?.filter((entry) => !['held', 'fees'].includes(entry.bucket))).toEqual([
        { bucket, amount },
      ]);
    }
  });
});

it('a payout that pays a deposit back is another than one that the balance pays', () => {
  const hold = { ...payout, state: 'placed' as const };
  expect(sameContents(hold, payout)).toBe(true);
  expect(sameContents(hold, { ...payout, deposit: 'dep_1' as DepositId })).toBe(false);
  expect(sameContents({ ...hold, deposit: 'dep_1' as DepositId }, payout)).toBe(false);
  // What was given up before it was asked for said nothing of where its money comes from.
  expect(sameContents(tombstone, { ...payout, deposit: 'dep_1' as DepositId })).toBe(true);
});

it('the answer to hold.place stays what it was, unless it was given up', () => {
  expect(outcomeOf).toEqual({
    placed: 'placed',
    settled: 'placed',
    released: 'placed',
    refused: 'refused',
    voided: 'voided',
  });
});
