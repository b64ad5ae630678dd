import { describe, expect, it } from '@jest/globals';
import { newEventId } from '@quittance/shared/ids';
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

const { fixture, handle, platform } = openLedger({ replicas: 2 });

/** How often invoices was told that a deposit is booked. */
async function sentEvents(depositId: string): Promise<number> {
  const rows = await fixture.admin.rows(
    `select 1 from outbox where kind = 'credit.recorded' and payload ->> 'deposit_id' = $1`,
    [depositId],
  );
  return rows.length;
}

describe('a settled deposit', () => {
  it.each([
    ['is credited', 'credit', ['5000', '0', '0']],
    ['waits as unresolved when its disposition says so', 'unresolved', ['0', '0', '5000']],
  ] as const)('%s, and invoices is told in the same transaction', async (_what, disposition, balance) => {
    const account = anAccount();
    const deposit = aDeposit(account, 5_000n, { disposition, asset: 'USDC_ERC20' });
    await fixture.send([settled(deposit)]);
    await eventually(async () => expect(await fixture.balance(account, 'USDC_ERC20')).toEqual(balance));
    expect(await sentEvents(deposit.deposit_id)).toBe(1);
  });

  it('keeps every digit of 2^255', async () => {
    const account = anAccount();
    await handle(settled(aDeposit(account, 2n ** 255n)), settled(aDeposit(account, 1n)));
    expect(await fixture.balance(account)).toEqual([(2n ** 255n + 1n).toString(), '0', '0']);
  });

  it('is credited once, whatever is doubled and in whatever order', async () => {
    const accounts = Array.from({ length: 10 }, anAccount);
    const deposits = accounts.flatMap((account) =>
      Array.from({ length: 20 }, (_, i) => aDeposit(account, BigInt(i + 1))),
    );
    // Copies of the same event, and the same deposit told by another event.
    const events = deposits.flatMap((deposit) => {
      const id = newEventId(new Date());
      return [settled(deposit, id), settled(deposit, id), settled(deposit, id), settled(deposit)];
    });
    const shuffled = events
      .map((event) => ({ event, at: Math.random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ event }) => event);
    await Promise.all([fixture.send(shuffled.slice(0, 400)), fixture.send(shuffled.slice(400))]);
    await eventually(async () => {
      const ids = await fixture.admin.rows(`select 1 from inbox where event_id = any($1::text[])`, [
        shuffled.flatMap(({ id }) => (id === undefined ? [] : [id])),
      ]);
      expect(ids).toHaveLength(200);
      for (const account of accounts) expect(await fixture.balance(account)).toEqual(['210', '0', '0']);
    });
    // Nothing may come after it either.
    await fixture.send(shuffled);
    const last = aDeposit(anAccount(), 1n);
    await fixture.send([settled(last)]);
    await eventually(async () => expect(await sentEvents(last.deposit_id)).toBe(1));
    for (const account of accounts) expect(await fixture.balance(account)).toEqual(['210', '0', '0']);
    for (const { deposit_id } of deposits) expect(await sentEvents(deposit_id)).toBe(1);
  });

  it('twice in one batch is credited once', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 7n);
    await handle(settled(deposit), settled(deposit));
    expect(await fixture.balance(account)).toEqual(['7', '0', '0']);
    expect(await sentEvents(deposit.deposit_id)).toBe(1);
  });

  it.each([
    ['amount', { amount: '8' }],
    ['account', { account_id: 'acc_other' }],
    ['asset', { asset: 'USDC_ERC20' as const }],
    ['disposition', { disposition: 'unresolved' as const }],
  ])('with another %s under the same id is an error, and changes nothing', async (_what, other) => {
    const account = anAccount();
    const deposit = aDeposit(account, 7n);
    await handle(settled(deposit));
    await expect(handle(settled({ ...deposit, ...other }))).rejects.toThrow(/other contents/);
    await expect(handle(settled(aDeposit(account, 1n)), settled({ ...deposit, ...other }))).rejects.toThrow();
    const fresh = aDeposit(account, 7n);
    await expect(handle(settled(fresh), settled({ ...fresh, ...other }))).rejects.toThrow(/other contents/);
    expect(await fixture.balance(account)).toEqual(['7', '0', '0']);
  });
});

describe('a reversed deposit', () => {
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
    expect((await platform(account))['loss']).toBe('-50');
  });

  it('in one batch with its deposit, in the wrong order, cancels out', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n);
    await handle(reversed(deposit), settled(deposit));
    expect(await fixture.balance(account)).toEqual(['0', '0', '0']);
    expect(await platform(account)).toEqual({});
  });

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

it('batches of many replicas on the same accounts in any order do not wait for each other', async () => {
  const accounts = Array.from({ length: 8 }, anAccount);
  const batch = () =>
    Array.from({ length: 40 }, () => {
      const account = accounts[Math.floor(Math.random() * accounts.length)] ?? anAccount();
      return settled(aDeposit(account, 1n, { asset: Math.random() < 0.5 ? 'ETH' : 'USDC_ERC20' }));
    });
  await Promise.all(Array.from({ length: 40 }, () => handle(...batch())));
  const row = await fixture.admin.one<{ total: string }>(
    'select sum(available) as total from balances where account_id = any($1::text[])',
    [accounts],
  );
  expect(row.total).toBe('1600');
  const { deadlocks } = await fixture.admin.one<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(deadlocks).toBe('0');
});
