import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { RequestOf } from '@quittance/shared/commands';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { acceptDeposit } from '../src/operations/accept-unresolved.ts';
import type { LedgerService } from '../src/service.ts';
import { findSuspense } from '../src/store/suspense.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  type LedgerFixture,
  ledgerFixture,
  reversalOf,
  type Sent,
} from './ledger-fixture.ts';

export type LedgerDeposit = ReturnType<typeof aDeposit>;
export const settled = (payload: LedgerDeposit): Sent => ({ kind: 'deposit.settled', payload });
export const reversed = (deposit: LedgerDeposit): Sent => ({
  kind: 'deposit.reversed',
  payload: reversalOf(deposit),
});
export type Hold = RequestOf<'hold.place'>;
const outcomeOf = ({ deposit_id: _, ...hold }: Hold) => ({ ...hold, tx_hash: '0xab' });
export const settle = (hold: Hold): Sent => ({ kind: 'hold.settle', payload: outcomeOf(hold) });
export const release = (hold: Hold, feeKept = false): Sent => ({
  kind: 'hold.release',
  payload: { ...outcomeOf(hold), fee_kept: feeKept },
});
export const giveUp = ({ payout_id, account_id, asset }: Hold): Sent => ({
  kind: 'hold.void',
  payload: { payout_id, account_id, asset },
});

/** A payout that pays all of a deposit back, less the fee. */
export const aReturn = (deposit: LedgerDeposit, fee = 10n, other: Partial<Hold> = {}): Hold =>
  aHold(deposit.account_id as AccountId, BigInt(deposit.amount) - fee, {
    network_fee: fee.toString(),
    deposit_id: deposit.deposit_id,
    ...other,
  });

/** For one suite: a ledger of two replicas whose books have no discrepancy after any test. */
export function openUnresolvedFixture() {
  // Filled when the first test begins: a run that skips all tests of a suite starts nothing.
  const [fixture, one, other] = [{} as LedgerFixture, {} as LedgerService, {} as LedgerService];
  beforeAll(async () => {
    Object.assign(fixture, await ledgerFixture());
    const [first, second] = await Promise.all([fixture.start(), fixture.start()]);
    Object.assign(one, first);
    Object.assign(other, second);
  });
  afterAll(() => fixture.stop());
  afterEach(async () => expect(await fixture.discrepancies()).toEqual([]));
  return {
    fixture,
    one,
    other,
    handle: (...events: Sent[]) => fixture.handle(...events),
    async anUnresolved(account = anAccount(), amount = 100n): Promise<LedgerDeposit> {
      const deposit = aDeposit(account, amount, { disposition: 'unresolved', tx_hash: '0xpaid' });
      await fixture.handle(settled(deposit));
      return deposit;
    },
    accept: (deposit: LedgerDeposit, account = deposit.account_id as AccountId, { ports } = one) =>
      acceptDeposit(ports, account, deposit.deposit_id as DepositId),
    async stateOf(deposit: LedgerDeposit) {
      const item = await findSuspense(fixture.db, deposit.deposit_id as DepositId);
      return item && [item.state, item.amount.toString()];
    },
    balanceOf: (deposit: LedgerDeposit) => fixture.balance(deposit.account_id as AccountId),
    /** What the accounts of the platform have of a merchant’s transfers. */
    async platform(account: string): Promise<Record<string, string>> {
      const rows = await fixture.admin.rows<{ bucket: string; amount: string }>(
        `select e.bucket, sum(e.amount) as amount from entries e join transfers t on t.seq = e.transfer_seq
         where t.account_id = $1 and e.account_id is null group by e.bucket having sum(e.amount) <> 0`,
        [account],
      );
      return Object.fromEntries(rows.map(({ bucket, amount }) => [bucket, amount]));
    },
  };
}
