import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Trx } from '@quittance/shared/db';
import { brokenConstraint } from '@quittance/shared/db-errors';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { depositPosting, settlePosting } from '../src/domain/posting.ts';
import { book, lockBalances } from '../src/store/transfers.ts';
import { anAccount, openLedger } from './ledger-fixture.ts';

const { fixture } = openLedger({ replicas: 0 });
let account: AccountId;
beforeAll(async () => {
  account = anAccount();
  await fixture.db.transaction(async (trx) => {
    await lockBalances(trx, [{ account, asset: 'ETH' }]);
    const deposit = { id: 'dep_1' as DepositId, account, asset: 'ETH' as const, amount: units(100n) };
    await book(trx, [depositPosting(deposit, 'credit')]);
  });
});

/** Why Postgres refuses it: the constraint, else the error's code. */
async function refusal(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return brokenConstraint(error) ?? (error as { code?: string }).code;
  }
}

describe('behind the code, Postgres refuses', () => {
  const [ours, custody] = [`'acc_1', 'available'`, `null, 'custody'`];
  it.each([
    ['one side alone', `(9, ${ours}, 'ETH', 5)`, 'entries_sum_to_zero'],
    ['sides that do not match', `(9, ${ours}, 'ETH', 5), (9, ${custody}, 'ETH', -4)`, 'entries_sum_to_zero'],
    ['two assets', `(9, ${ours}, 'ETH', 5), (9, ${custody}, 'USDC_ERC20', -5)`, 'entries_sum_to_zero'],
    ['two transfers', `(8, ${ours}, 'ETH', 5), (9, ${custody}, 'ETH', -5)`, 'entries_sum_to_zero'],
    ['nothing', `(9, ${ours}, 'ETH', 0), (9, ${custody}, 'ETH', 0)`, 'entries_amount_not_zero'],
    ['no bucket', `(9, null, 'pocket', 'ETH', 5), (9, ${custody}, 'ETH', -5)`, 'entries_bucket_known'],
    ['nobody', `(9, null, 'available', 'ETH', 5), (9, ${custody}, 'ETH', -5)`, 'entries_account_fits_bucket'],
  ])('entries of %s', async (_what, values, constraint) => {
    const sql = `insert into entries (transfer_seq, account_id, bucket, asset, amount) values ${values}`;
    expect(await refusal(() => fixture.db.rows(sql))).toBe(constraint);
  });

  it.each(['available', 'held', 'unresolved'])('%s below zero', async (bucket) => {
    const below = () =>
      fixture.db.rows(`update balances set ${bucket} = -1 where account_id = $1`, [account]);
    expect(await refusal(below)).toBe(`balances_${bucket}_not_negative`);
  });

  const aDeposit = (id: string, of = account) => ({
    id: id as DepositId,
    account: of,
    asset: 'ETH' as const,
    amount: units(1n),
  });

  it('a posting that a balance does not cover, with all that came with it', async () => {
    const payout = { ...aDeposit(''), id: '1' as PayoutId, networkFee: units(1n), deposit: null };
    const run = async (trx: Trx) => {
      await lockBalances(trx, [payout]);
      await book(trx, [depositPosting(aDeposit('dep_2'), 'credit'), settlePosting(payout)]);
    };
    expect(await refusal(() => fixture.db.transaction(run))).toBe('balances_held_not_negative');
    expect(await fixture.balance(account)).toEqual(['100', '0', '0']);
    const booked = `select 1 from transfers where op in ('deposit:dep_2', 'settle:1')`;
    expect(await fixture.db.rows(booked)).toEqual([]);
  });

  it('a second transfer of the same op', async () => {
    const again = () =>
      fixture.db.rows(
        `insert into transfers (op, kind, account_id, asset, amount) values ('deposit:dep_1', 'deposit', 'a', 'ETH', 1)`,
      );
    expect(await refusal(again)).toBe('transfers_op_once');
  });

  it('a hold of nothing', async () => {
    const nothing = () =>
      fixture.db.rows(
        `insert into holds (payout_id, account_id, asset, amount, network_fee, state) values ('9', 'a', 'ETH', 0, 0, 'placed')`,
      );
    expect(await refusal(nothing)).toBe('holds_amount_positive');
    const unknown = () =>
      fixture.db.rows(
        `insert into holds (payout_id, account_id, asset, state) values ('9', 'a', 'ETH', 'placed')`,
      );
    expect(await refusal(unknown)).toBe('holds_amounts_known');
  });

  it('a posting to a balance that is not there', async () => {
    const posting = depositPosting(aDeposit('dep_3', anAccount()), 'credit');
    await expect(fixture.db.transaction((trx) => book(trx, [posting]))).rejects.toThrow(
      /every balance that a posting changes is there/,
    );
  });
});
