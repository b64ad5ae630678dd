import { describe, expect, it } from '@jest/globals';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { catchUpReversals } from '../src/operations/deposits.ts';
import { placeHold } from '../src/operations/place-hold.ts';
import { readAccepted } from '../src/operations/read-balance.ts';
import { findSuspense } from '../src/store/suspense.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn as aRefund,
  type Hold,
  type LedgerDeposit,
  logger,
  minedAgain,
  openLedger,
  release,
  reversalOf,
  reversed,
  type Sent,
  settle,
  settled,
} from './ledger-fixture.ts';

/** One payment that the chain takes back and mines again: it is another deposit then, and one payment still. */
const { fixture, one: ledger, discrepancies, handle, anUnresolved, accept, platform, spend } = openLedger();

const account = (deposit: LedgerDeposit) => deposit.account_id as AccountId;
const aReturn = (deposit: LedgerDeposit): Hold => aRefund(deposit, 0n);

/** A credited deposit of which so much is spent. */
async function aSpentDeposit(amount: bigint): Promise<LedgerDeposit> {
  const deposit = aDeposit(anAccount(), 100n);
  await handle(settled(deposit));
  await spend(deposit, amount);
  return deposit;
}

const booksOf = async ({ account_id }: LedgerDeposit): Promise<string[]> => [
  ...(await fixture.balance(account_id as AccountId)),
  (await platform(account_id))['loss'] ?? '0',
];

async function stateOf({ deposit_id }: LedgerDeposit) {
  const item = await findSuspense(fixture.db, deposit_id as DepositId);
  return item && [item.state, item.amount.toString(), item.payout];
}

describe('a payment that was reversed after it was spent, and is mined again', () => {
  it.each<[string, bigint, LedgerDeposit['disposition'], string[], unknown[] | undefined]>([
    ['recovers the write-off once', 100n, 'credit', ['0', '0', '0', '0'], undefined],
    ['is the account’s as far as it was not spent', 70n, 'credit', ['30', '0', '0', '0'], undefined],
    [
      'is unresolved as far as it was not spent',
      70n,
      'unresolved',
      ['0', '0', '30', '0'],
      ['open', '30', null],
    ],
    [
      'waits for no decision when all was spent',
      100n,
      'unresolved',
      ['0', '0', '0', '0'],
      ['accepted', '100', null],
    ],
  ])('%s', async (_what, spent, disposition, books, state) => {
    const old = await aSpentDeposit(spent);
    await handle(reversed(old));
    expect(await booksOf(old)).toEqual(['0', '0', '0', `-${spent}`]);
    const again = minedAgain(old, { disposition });
    await handle(settled(again));
    await handle(settled(again), settled(again));
    expect(await booksOf(old)).toEqual(books);
    expect(await stateOf(again)).toEqual(state);
    if (state?.[0] === 'accepted') expect(await fixture.place(aReturn(again))).toBe('refused');
    if (state?.[0] === 'open') expect(await accept(again)).toMatchObject({ ok: true });
    const left = 100n - spent;
    expect((await booksOf(old))[0]).toBe(left.toString());
    expect(await fixture.place(aHold(account(old), left + 1n))).toBe('refused');
  });

  it('recovers the write-off again each time the payment is reversed and mined again', async () => {
    const old = await aSpentDeposit(70n);
    let last = old;
    for (let i = 0; i < 3; i++) {
      await handle(reversed(last));
      expect(await booksOf(old)).toEqual(['0', '0', '0', '-70']);
      last = minedAgain(old);
      await handle(settled(last));
      expect(await booksOf(old)).toEqual(['30', '0', '0', '0']);
    }
  });

  it('cannot be refunded when a part of it recovered a write-off, and the rest can be accepted', async () => {
    const old = await anUnresolved();
    await accept(old);
    await spend(old, 60n);
    await handle(reversed(old));
    const again = minedAgain(old);
    await handle(settled(again));
    expect(await stateOf(again)).toEqual(['open', '40', null]);
    // Who pays it back knows of 100 only.
    const hold = aReturn(again);
    const refused = { outcome: 'refused', because: 'used_for_recovery' };
    for (const asked of [hold, hold, aReturn(again)])
      expect(await placeHold(ledger.ports, asked)).toEqual(refused);
    await expect(placeHold(ledger.ports, { ...aReturn(again), amount: '99' })).rejects.toThrow(
      /other contents/,
    );
    expect(await booksOf(old)).toEqual(['0', '0', '40', '0']);
    const accepted = await accept(again);
    expect(accepted).toMatchObject({ ok: true, value: { amount: 40n } });
    expect(await placeHold(ledger.ports, aReturn(again))).toEqual({ outcome: 'refused' });
    expect(await booksOf(old)).toEqual(['40', '0', '0', '0']);
  });

  it('was returned to its payer when it was, and is not returned twice', async () => {
    const old = await anUnresolved();
    const hold = aReturn(old);
    await fixture.place(hold);
    await handle(settle(hold));
    await handle(reversed(old));
    const again = minedAgain(old);
    await handle(settled(again));
    expect(await stateOf(again)).toEqual(['returned', '100', hold.payout_id]);
    expect(await booksOf(old)).toEqual(['0', '0', '0', '0']);
    expect(await fixture.place(aReturn(again))).toBe('refused');
  });

  it.each<[string, LedgerDeposit['disposition'], (hold: Hold) => Sent, string[], unknown]>([
    ['and is mined', 'unresolved', settle, ['0', '0', '0', '0'], 'returned'],
    ['and fails', 'unresolved', release, ['0', '0', '100', '0'], 'open'],
    ['and fails when it is credited now', 'credit', release, ['100', '0', '0', '0'], undefined],
  ])('while its refund is pending %s', async (_how, disposition, end, books, state) => {
    const old = await anUnresolved();
    const hold = aReturn(old);
    await fixture.place(hold);
    await handle(reversed(old));
    const again = minedAgain(old, { disposition });
    await handle(settled(again));
    expect(await booksOf(old)).toEqual(['0', '100', '0', '0']);
    await handle(end(hold));
    await handle(end(hold));
    expect(await booksOf(old)).toEqual(books);
    expect((await stateOf(again))?.[0]).toBe(state);
  });

  it('recovers no write-off of another payment, nor of another account', async () => {
    const old = await aSpentDeposit(100n);
    await handle(reversed(old));
    const other = minedAgain(old, { outpoint: '0xother:0' });
    const foreign = minedAgain(old, { account_id: anAccount() });
    await handle(settled(other), settled(foreign));
    expect(await booksOf(old)).toEqual(['100', '0', '0', '-100']);
    expect(await booksOf(foreign)).toEqual(['100', '0', '0', '0']);
  });
});

describe('what an invoice that is not paid has in the balance, for its refunds to take,', () => {
  async function accepted({ account_id, asset, invoice_id }: LedgerDeposit): Promise<string> {
    const asked = { account_id, asset, invoice_id };
    return (await readAccepted(ledger.ports, asked)).amount;
  }
  async function returnPart(deposit: LedgerDeposit, amount: bigint): Promise<Hold> {
    const hold = aRefund({ ...deposit, amount: amount.toString() }, 0n, { is_part: true });
    expect(await fixture.place(hold)).toBe('placed');
    return hold;
  }

  it('is what was accepted beside a part that was returned, also after the payment was lost and mined again', async () => {
    const first = await anUnresolved();
    await handle(settle(await returnPart(first, 40n)));
    expect(await accepted(first)).toBe('0');
    await accept(first);
    expect(await accepted(first)).toBe('60');
    await spend(first, 60n);
    await handle(reversed(first));
    expect(await accepted(first)).toBe('0');
    // All of it was lost: 60 that were spent, and 40 that the payer has.
    for (let turn = 0; turn < 3; turn++) {
      const last = minedAgain(first);
      await handle(settled(last));
      expect(await accepted(first)).toBe('60');
      await handle(reversed(last));
      expect(await accepted(first)).toBe('0');
    }
  });

  it.each([
    [50n, '50'],
    [30n, '30'],
    [100n, '100'],
  ])(
    'is all of a payment again when %p of it were spent and the rest is accepted once more',
    async (spent, before) => {
      const first = await anUnresolved();
      await accept(first);
      expect(await accepted(first)).toBe('100');
      await spend(first, spent);
      await handle(reversed(first));
      expect(await accepted(first)).toBe('0');
      const again = minedAgain(first);
      await handle(settled(again));
      expect(await accepted(first)).toBe(before);
      if (spent < 100n) await accept(again);
      expect(await accepted(first)).toBe('100');
    },
  );

  it('is nothing of a part that was returned, whose payment is mined again', async () => {
    const first = await anUnresolved();
    await handle(settle(await returnPart(first, 40n)));
    await handle(reversed(first));
    const again = minedAgain(first);
    await handle(settled(again));
    expect(await accepted(first)).toBe('0');
    await accept(again);
    expect(await accepted(first)).toBe('60');
  });

  it('has the part whose payout failed after the rest was accepted', async () => {
    const first = await anUnresolved();
    const part = await returnPart(first, 40n);
    await accept(first);
    expect(await accepted(first)).toBe('60');
    await handle(release(part));
    expect(await accepted(first)).toBe('100');
  });
});

it('in every order of events the ledger is the same, and one payment is credited once', async () => {
  const dispositions = fc.constantFrom('credit' as const, 'unresolved' as const);
  const property = fc.asyncProperty(
    fc.record({ before: dispositions, after: dispositions, spent: fc.bigInt(0n, 100n), how: fc.nat(4) }),
    fc.nat(3),
    async ({ before, after, spent, how }, order) => {
      const ended = [];
      for (const turn of [0, order]) {
        const old = aDeposit(anAccount(), 100n, { disposition: before });
        const again = minedAgain(old, { disposition: after });
        await handle(settled(old));
        if (before === 'unresolved' && how > 2) {
          const hold = aReturn(old);
          await fixture.place(hold);
          if (how > 3) await handle(settle(hold));
        } else if (before === 'unresolved' && how > 0) {
          await accept(old);
        }
        const isThere = BigInt((await fixture.balance(account(old)))[0]) >= spent;
        if (spent > 0n && isThere) await spend(old, spent);
        if (turn === 0) {
          await handle(reversed(old));
          await handle(settled(again));
        } else if (turn === 1) {
          await handle(settled(again));
          await handle(reversed(old));
        } else if (turn === 2) {
          await handle(reversed(old), settled(again));
        } else {
          await fixture.leaveReversal(reversalOf(old));
          await handle(settled(again));
          while ((await catchUpReversals({ db: fixture.db, logger })) > 0);
        }
        await handle(reversed(old), settled(again));
        const books = await booksOf(old);
        expect(books[3]).toBe('0');
        ended.push([...books, (await stateOf(again))?.slice(0, 2)]);
        expect(await discrepancies()).toEqual([]);
      }
      expect(ended[1]).toEqual(ended[0]);
    },
  );
  await assertProperty(property, { least: 12, most: 60, withinMs: 1_000 });
});
