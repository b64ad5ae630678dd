import { expect, it } from '@jest/globals';
import { assetSymbols } from '@quittance/shared/assets';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { sum, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import {
  acceptPosting,
  depositPosting,
  holdPosting,
  type LedgerDeposit,
  type LedgerPayout,
  type MerchantBucket,
  networkPosting,
  type Posting,
  recoveryPosting,
  releasePosting,
  reversalPosting,
  settlePosting,
  writtenOffBy,
} from './posting.ts';

const account = 'acc_1' as AccountId;
const anAmount = fc.bigInt({ min: 1n, max: 10n ** 77n }).map((value) => units(value));
const aFee = fc.bigInt({ min: 0n, max: 10n ** 77n }).map((value) => units(value));
const anAsset = fc.constantFrom(...assetSymbols);
const aDisposition = fc.constantFrom('credit' as const, 'unresolved' as const);
const aReason = fc.constantFrom('failed' as const, 'failed_fee_kept' as const, 'voided' as const);

it('the smallest amount there is can be booked', () => {
  const one = { id: 'dep_1' as DepositId, account, asset: 'ETH', amount: units(1n) } as const;
  expect(depositPosting(one, 'credit').amount).toBe(1n);
});

const aDeposit: fc.Arbitrary<LedgerDeposit> = fc.record({
  id: fc.constant('dep_1' as DepositId),
  account: fc.constant(account),
  asset: anAsset,
  amount: anAmount,
});
const aPayout: fc.Arbitrary<LedgerPayout> = fc.record({
  id: fc.constant('1' as PayoutId),
  account: fc.constant(account),
  asset: anAsset,
  amount: anAmount,
  networkFee: aFee,
  deposit: fc.constantFrom(null, 'dep_1' as DepositId),
});

const aPosting: fc.Arbitrary<Posting> = fc.oneof(
  fc.tuple(aDeposit, aDisposition).map(([deposit, disposition]) => depositPosting(deposit, disposition)),
  fc
    .tuple(aDeposit, fc.constantFrom<MerchantBucket>('available', 'unresolved'), aFee)
    .map(([deposit, bucket, there]) => reversalPosting(deposit, bucket, there)),
  aPayout.map(holdPosting),
  aPayout.map(settlePosting),
  fc
    .tuple(aPayout, aReason, fc.constantFrom('available' as const, 'unresolved' as const, 'loss' as const))
    .map(([payout, reason, to]) => releasePosting(payout, reason, to)),
  fc
    .tuple(aDeposit, fc.constantFrom<MerchantBucket>('available', 'unresolved'), anAmount)
    .map(([deposit, bucket, amount]) => recoveryPosting(deposit, bucket, amount, 'transfer')),
  aDeposit.map(acceptPosting),
  aDeposit.map(({ asset, amount }) => networkPosting({ txHash: '0x1', asset, amount, purpose: 'sweep' })),
);

it('every posting sums to zero, has entries and none of nothing', async () => {
  await assertProperty(
    fc.property(aPosting, (posting) => {
      expect(sum(posting.entries.map((entry) => entry.amount))).toBe(0n);
      expect(posting.entries.length).toBeGreaterThanOrEqual(2);
      expect(posting.entries.some((entry) => entry.amount === 0n)).toBe(false);
    }),
  );
});

const deposit: LedgerDeposit = { id: 'dep_1' as DepositId, account, asset: 'ETH', amount: units(9n) };
const payout: LedgerPayout = { ...deposit, id: 'po_1' as PayoutId, networkFee: units(2n), deposit: null };
const refund = { ...payout, deposit: deposit.id };

it.each<[Posting, string, string, string]>([
  [depositPosting(deposit, 'credit'), 'deposit:dep_1', 'credit', 'available 9, custody -9'],
  [depositPosting(deposit, 'unresolved'), 'deposit:dep_1', 'unresolved', 'unresolved 9, custody -9'],
  [reversalPosting(deposit, 'available', units(0n)), 'reversal:dep_1', '', 'loss -9, custody 9'],
  [
    reversalPosting(deposit, 'available', units(8n)),
    'reversal:dep_1',
    '',
    'available -8, loss -1, custody 9',
  ],
  [reversalPosting(deposit, 'available', units(9n)), 'reversal:dep_1', '', 'available -9, custody 9'],
  [reversalPosting(deposit, 'unresolved', units(10n)), 'reversal:dep_1', '', 'unresolved -9, custody 9'],
  [holdPosting(payout), 'hold:po_1', '', 'available -11, held 11'],
  [holdPosting(refund), 'hold:po_1', 'dep_1', 'unresolved -11, held 11'],
  [settlePosting(payout), 'settle:po_1', '', 'held -11, custody 9, fees 2'],
  [releasePosting(payout, 'failed', 'available'), 'release:po_1', 'failed', 'held -11, available 11'],
  [releasePosting(refund, 'voided', 'unresolved'), 'release:po_1', 'voided', 'held -11, unresolved 11'],
  [
    releasePosting(refund, 'failed_fee_kept', 'loss'),
    'release:po_1',
    'failed_fee_kept',
    'held -11, loss 9, fees 2',
  ],
  [acceptPosting(deposit), 'accept:dep_1', '', 'unresolved -9, available 9'],
])('%# books what it says', ({ entries, ...posting }, op, detail, sides) => {
  const networkFee = op.endsWith('po_1') ? 2n : 0n;
  const kind = op.split(':')[0];
  expect(posting).toEqual({ op, kind, account, asset: 'ETH', amount: 9n, networkFee, detail });
  expect(entries.map(({ bucket, amount }) => `${bucket} ${amount}`).join(', ')).toBe(sides);
});

it('what a reversal could not take back is written off', () => {
  expect(writtenOffBy(reversalPosting(deposit, 'available', units(8n)))).toBe(1n);
  expect(writtenOffBy(reversalPosting(deposit, 'available', units(9n)))).toBe(0n);
});

it('a recovery gives back to the loss what it takes from the account', () => {
  expect(recoveryPosting(deposit, 'unresolved', units(4n), 'dep_0')).toMatchObject({
    ...{ op: 'recovery:dep_1:dep_0', kind: 'recovery', account, amount: 4n, detail: '' },
    entries: [
      { bucket: 'unresolved', amount: -4n },
      { bucket: 'loss', amount: 4n },
    ],
  });
});

it('a deposit of nothing, and a reversal from a bucket below zero, are defects', () => {
  expect(() => depositPosting({ ...deposit, amount: units(0n) }, 'credit')).toThrow(/moves something/);
  expect(() => reversalPosting(deposit, 'available', units(-1n))).toThrow(/never below zero/);
});

it('what a transaction of ours costs is the platform’s alone', () => {
  const expense = { txHash: '0xab', asset: 'ETH', amount: units(7n), purpose: 'payout' } as const;
  expect(networkPosting(expense)).toMatchObject({
    op: 'network:0xab',
    account: null,
    entries: [
      { bucket: 'network', amount: -7n },
      { bucket: 'custody', amount: 7n },
    ],
  });
});
