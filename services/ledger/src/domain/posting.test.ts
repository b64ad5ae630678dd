import { describe, expect, it } from '@jest/globals';
import { assetSymbols } from '@quittance/shared/assets';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { sum, type Units, units } from '@quittance/shared/money';
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

const amountIn = (posting: Posting, bucket: string): Units =>
  sum(posting.entries.filter((entry) => entry.bucket === bucket).map((entry) => entry.amount));

/** How much a posting changes each column of its account's balance. */
const balanceChange = (posting: Posting) => ({
  available: amountIn(posting, 'available'),
  held: amountIn(posting, 'held'),
  unresolved: amountIn(posting, 'unresolved'),
});

/** Where the money of a hold comes from. */
const sourceOf = ({ deposit }: LedgerPayout) => (deposit === null ? 'available' : 'unresolved');

describe('every posting', () => {
  it('sums to zero, has entries and none of nothing', () => {
    fc.assert(
      fc.property(aPosting, (posting) => {
        expect(sum(posting.entries.map((entry) => entry.amount))).toBe(0n);
        expect(posting.entries.length).toBeGreaterThanOrEqual(2);
        expect(posting.entries.some((entry) => entry.amount === 0n)).toBe(false);
      }),
    );
  });
});

describe('the posting', () => {
  const deposit: LedgerDeposit = { id: 'dep_1' as DepositId, account, asset: 'ETH', amount: units(9n) };
  const payout: LedgerPayout = { ...deposit, id: 'po_1' as PayoutId, networkFee: units(2n), deposit: null };
  const recovery = recoveryPosting(deposit, 'unresolved', units(4n), 'dep_0');

  it.each([
    ['deposit:dep_1', depositPosting(deposit, 'unresolved'), 'deposit', 9n, 0n, 'unresolved'],
    ['reversal:dep_1', reversalPosting(deposit, 'available', units(0n)), 'reversal', 9n, 0n, ''],
    ['recovery:dep_1:dep_0', recovery, 'recovery', 4n, 0n, ''],
    ['hold:po_1', holdPosting(payout), 'hold', 9n, 2n, ''],
    ['hold:po_1', holdPosting({ ...payout, deposit: deposit.id }), 'hold', 9n, 2n, 'dep_1'],
    ['settle:po_1', settlePosting(payout), 'settle', 9n, 2n, ''],
    ['release:po_1', releasePosting(payout, 'voided', 'available'), 'release', 9n, 2n, 'voided'],
    ['accept:dep_1', acceptPosting(deposit), 'accept', 9n, 0n, ''],
  ])(
    '%s names its kind, amounts and detail',
    (op, { entries: _, ...booked }, kind, amount, networkFee, detail) => {
      expect(booked).toEqual({ op, kind, account, asset: 'ETH', amount, networkFee, detail });
    },
  );

  it('of a recovery gives back to the loss what it takes from the account', () => {
    expect(recovery.entries).toEqual([
      { bucket: 'unresolved', amount: -4n },
      { bucket: 'loss', amount: 4n },
    ]);
  });
});

describe('a deposit', () => {
  it('puts its amount where its disposition says and in custody', () => {
    fc.assert(
      fc.property(aDeposit, aDisposition, (deposit, disposition) => {
        const posting = depositPosting(deposit, disposition);
        const change = balanceChange(posting);
        expect(change[disposition === 'credit' ? 'available' : 'unresolved']).toBe(deposit.amount);
        expect(change[disposition === 'credit' ? 'unresolved' : 'available']).toBe(0n);
        expect(amountIn(posting, 'custody')).toBe(-deposit.amount);
      }),
    );
  });

  it('of nothing is a defect', () => {
    const nothing = { id: 'dep_1' as DepositId, account, asset: 'ETH' as const, amount: units(0n) };
    expect(() => depositPosting(nothing, 'credit')).toThrow(/moves something/);
  });
});

describe('a reversal', () => {
  it('takes back what is available and no more, and writes off the rest', () => {
    fc.assert(
      fc.property(aDeposit, aFee, (deposit, there) => {
        const posting = reversalPosting(deposit, 'available', there);
        const back = -balanceChange(posting).available;
        expect(back <= there && back <= deposit.amount).toBe(true);
        expect(back === there || back === deposit.amount).toBe(true);
        expect(writtenOffBy(posting)).toBe(deposit.amount - back);
        expect(amountIn(posting, 'custody')).toBe(deposit.amount);
      }),
    );
  });

  it('after a deposit, with nothing spent, leaves everything as it was', () => {
    fc.assert(
      fc.property(aDeposit, aDisposition, (deposit, disposition) => {
        const bucket = disposition === 'credit' ? 'available' : 'unresolved';
        const all = [depositPosting(deposit, disposition), reversalPosting(deposit, bucket, deposit.amount)];
        for (const name of ['available', 'held', 'unresolved', 'custody', 'fees', 'loss']) {
          expect(sum(all.map((posting) => amountIn(posting, name)))).toBe(0n);
        }
      }),
    );
  });

  it('of a bucket below zero is a defect', () => {
    const deposit = { id: 'dep_1' as DepositId, account, asset: 'ETH' as const, amount: units(5n) };
    expect(() => reversalPosting(deposit, 'available', units(-1n))).toThrow(/never below zero/);
  });
});

describe('a hold', () => {
  it('released in full leaves everything as it was', () => {
    fc.assert(
      fc.property(aPayout, fc.constantFrom('failed' as const, 'voided' as const), (payout, reason) => {
        const all = [holdPosting(payout), releasePosting(payout, reason, sourceOf(payout))];
        for (const bucket of ['available', 'held', 'unresolved', 'custody', 'fees']) {
          expect(sum(all.map((posting) => amountIn(posting, bucket)))).toBe(0n);
        }
      }),
    );
  });

  it('released with its fee kept costs the merchant the fee alone', () => {
    fc.assert(
      fc.property(aPayout, (payout) => {
        const source = sourceOf(payout);
        const all = [holdPosting(payout), releasePosting(payout, 'failed_fee_kept', source)];
        expect(sum(all.map((posting) => balanceChange(posting)[source]))).toBe(-payout.networkFee);
        expect(sum(all.map((posting) => balanceChange(posting).held))).toBe(0n);
        expect(sum(all.map((posting) => amountIn(posting, 'fees')))).toBe(payout.networkFee);
      }),
    );
  });

  it('settled costs the merchant amount and fee, of which the fee is ours and the amount has left', () => {
    fc.assert(
      fc.property(aPayout, (payout) => {
        const all = [holdPosting(payout), settlePosting(payout)];
        expect(sum(all.map((posting) => balanceChange(posting)[sourceOf(payout)]))).toBe(
          -(payout.amount + payout.networkFee),
        );
        expect(sum(all.map((posting) => balanceChange(posting).held))).toBe(0n);
        expect(sum(all.map((posting) => amountIn(posting, 'custody')))).toBe(payout.amount);
        expect(sum(all.map((posting) => amountIn(posting, 'fees')))).toBe(payout.networkFee);
      }),
    );
  });
});

describe('any sequence of deposits, holds and reversals', () => {
  type Step =
    | { do: 'deposit'; amount: bigint; disposition: 'credit' | 'unresolved' }
    | { do: 'hold'; amount: bigint; fee: bigint }
    | { do: 'end'; nth: number; how: 'settle' | 'release' | 'keep_fee' | 'void' }
    | { do: 'reverse'; nth: number };
  const small = fc.bigInt({ min: 1n, max: 1_000n });
  const aStep: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant('deposit' as const), amount: small, disposition: aDisposition }),
    fc.record({ do: fc.constant('hold' as const), amount: small, fee: fc.bigInt({ min: 0n, max: 50n }) }),
    fc.record({
      do: fc.constant('end' as const),
      nth: fc.nat(20),
      how: fc.constantFrom('settle' as const, 'release' as const, 'keep_fee' as const, 'void' as const),
    }),
    fc.record({ do: fc.constant('reverse' as const), nth: fc.nat(20) }),
  );

  it('never takes a balance below zero, and what is owed and earned is what is held and lost', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 60 }), (steps) => {
        const balance = { available: 0n, held: 0n, unresolved: 0n };
        const booked: Posting[] = [];
        const deposits: { deposit: LedgerDeposit; bucket: MerchantBucket }[] = [];
        const holds: LedgerPayout[] = [];
        const write = (posting: Posting) => {
          const change = balanceChange(posting);
          balance.available += change.available;
          balance.held += change.held;
          balance.unresolved += change.unresolved;
          booked.push(posting);
        };
        for (const step of steps) {
          if (step.do === 'deposit') {
            const id = `dep_${booked.length}` as DepositId;
            const deposit: LedgerDeposit = { id, account, asset: 'ETH', amount: units(step.amount) };
            const bucket = step.disposition === 'credit' ? 'available' : 'unresolved';
            deposits.push({ deposit, bucket });
            write(depositPosting(deposit, step.disposition));
          } else if (step.do === 'hold') {
            if (step.amount + step.fee > balance.available) continue;
            const id = `${booked.length}` as PayoutId;
            const payout: LedgerPayout = {
              id,
              account,
              asset: 'ETH',
              amount: units(step.amount),
              networkFee: units(step.fee),
              deposit: null,
            };
            holds.push(payout);
            write(holdPosting(payout));
          } else if (step.do === 'end') {
            const [payout] = holds.splice(step.nth % Math.max(1, holds.length), 1);
            if (payout === undefined) continue;
            if (step.how === 'settle') write(settlePosting(payout));
            else if (step.how === 'release') write(releasePosting(payout, 'failed', 'available'));
            else if (step.how === 'keep_fee') write(releasePosting(payout, 'failed_fee_kept', 'available'));
            else write(releasePosting(payout, 'voided', 'available'));
          } else {
            const [one] = deposits.splice(step.nth % Math.max(1, deposits.length), 1);
            if (one === undefined) continue;
            write(reversalPosting(one.deposit, one.bucket, units(balance[one.bucket])));
          }
          expect(Object.values(balance).every((amount) => amount >= 0n)).toBe(true);
        }
        const all = (bucket: string) => sum(booked.map((posting) => amountIn(posting, bucket)));
        expect(balance.held).toBe(sum(holds.map((hold) => units(hold.amount + hold.networkFee))));
        expect(all('available') + all('held') + all('unresolved') + all('fees')).toBe(
          -(all('custody') + all('loss')),
        );
      }),
    );
  });
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
