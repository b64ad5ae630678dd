import { describe, expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { catchUpReversals } from '../src/operations/deposits.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  logger,
  openLedger,
  reversalOf,
  reversed,
  settled,
} from './ledger-fixture.ts';

const { fixture, handle, writtenOff } = openLedger();

describe('a reversed deposit', () => {
  it('is taken back in full while the money is there', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(settled(deposit));
    await handle(reversed(deposit));
    expect(await fixture.balance(account)).toEqual(['0', '0', '0']);
    expect(await writtenOff(account)).toBe('0');
  });

  it('is taken back up to the available balance, never from what is held, and the rest is written off', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(settled(deposit));
    expect(await fixture.place(aHold(account, 70n))).toBe('placed');
    await handle(reversed(deposit));
    expect(await fixture.balance(account)).toEqual(['0', '70', '0']);
    expect(await writtenOff(account)).toBe('70');
  });

  it('is written off in full when everything is spent', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(settled(deposit));
    await fixture.place(aHold(account, 100n));
    await handle(reversed(deposit));
    expect(await fixture.balance(account)).toEqual(['0', '100', '0']);
    expect(await writtenOff(account)).toBe('100');
  });

  it('that was unresolved is taken from there', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n, { disposition: 'unresolved' });
    await handle(settled(deposit), settled(aDeposit(account, 40n)));
    await handle(reversed(deposit));
    expect(await fixture.balance(account)).toEqual(['40', '0', '0']);
    expect(await writtenOff(account)).toBe('0');
  });

  it('is taken back once, however often it is told, also in one batch', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(settled(deposit), settled(aDeposit(account, 500n)));
    await handle(reversed(deposit), reversed(deposit));
    await handle(reversed(deposit));
    await fixture.send([reversed(deposit), reversed(deposit)]);
    const later = anAccount();
    await fixture.send([settled(aDeposit(later, 1n))]);
    await eventually(async () => expect((await fixture.balance(later))[0]).toBe('1'));
    expect(await fixture.balance(account)).toEqual(['500', '0', '0']);
  });

  it('two of one account share what is there', async () => {
    const account = anAccount();
    const [one, other] = [aDeposit(account, 100n), aDeposit(account, 100n)];
    await handle(settled(one), settled(other));
    await fixture.place(aHold(account, 50n));
    await handle(reversed(one), reversed(other));
    expect(await fixture.balance(account)).toEqual(['0', '50', '0']);
    expect(await writtenOff(account)).toBe('50');
  });

  it('in one batch with its deposit, in the wrong order, cancels out', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(reversed(deposit), settled(deposit));
    expect(await fixture.balance(account)).toEqual(['0', '0', '0']);
    expect(await writtenOff(account)).toBe('0');
  });

  it.each(['credit', 'unresolved'] as const)(
    'that comes before its deposit waits for it, and nothing of it can be spent: %s',
    async (disposition) => {
      const account = anAccount();
      const deposit = aDeposit(account, 100n, { disposition });
      await handle(reversed(deposit));
      expect(await catchUpReversals({ db: fixture.db, logger })).toBe(0);
      await handle(settled(deposit));
      expect(await fixture.balance(account)).toEqual(['0', '0', '0']);
      expect(await writtenOff(account)).toBe('0');
      expect(await catchUpReversals({ db: fixture.db, logger })).toBe(0);
    },
  );

  it('that still waits for its booked deposit is booked once by two replicas at once', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(settled(deposit), settled(aDeposit(account, 300n)));
    await fixture.leaveReversal(reversalOf(deposit));
    const steps = await Promise.all(
      Array.from({ length: 6 }, () => catchUpReversals({ db: fixture.db, logger })),
    );
    expect(steps.reduce((a, b) => a + b)).toBe(1);
    expect(await fixture.balance(account)).toEqual(['300', '0', '0']);
  });

  it.each([
    ['amount', { amount: '99' }],
    ['account', { account_id: 'acc_other' }],
  ])('with another %s than its deposit is an error', async (_what, other) => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(settled(deposit));
    await expect(handle(reversed({ ...deposit, ...other }))).rejects.toThrow(/other contents/);
    expect(await fixture.balance(account)).toEqual(['100', '0', '0']);
    await handle(reversed(deposit));
    await expect(handle(reversed({ ...deposit, ...other }))).rejects.toThrow(/other contents/);
  });

  it('with other contents than its deposit, heard of first, keeps no other from being booked', async () => {
    const account = anAccount();
    const [strange, other] = [aDeposit(account, 100n), aDeposit(account, 30n)];
    await handle(reversed({ ...strange, amount: '99' }));
    await handle(settled(strange), settled(other));
    await fixture.leaveReversal(reversalOf(other));
    expect(await catchUpReversals({ db: fixture.db, logger })).toBe(1);
    expect(await catchUpReversals({ db: fixture.db, logger })).toBe(0);
    expect(await fixture.balance(account)).toEqual(['100', '0', '0']);
  });
});
