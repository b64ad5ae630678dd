import { expect, it } from '@jest/globals';
import { parseUnits } from '@quittance/shared/money';
import fc from 'fast-check';
import { transactionCsvLine } from '../src/csv-files.ts';
import { transactionTypes } from '../src/domain/balance-transaction.ts';
import { parseMonth, statementOf } from '../src/domain/statement.ts';
import {
  exportBalanceTransactions,
  listBalanceTransactions,
  type WantedTransactions,
} from '../src/operations/read-balance-transactions.ts';
import { type BalanceTransaction, movementSums } from '../src/store/balance-transactions.ts';
import { balanceTransactionView } from '../src/views.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn,
  giveUp,
  type Hold,
  type LedgerDeposit,
  openLedger,
  release,
  reversed,
  type Sent,
  settle,
  settled,
} from './ledger-fixture.ts';

const { fixture, one, handle, accept } = openLedger();

/** What happened to one account in one asset, as random numbers choose it. */
class History {
  readonly account = anAccount();
  readonly deposits: LedgerDeposit[] = [];
  readonly holds: Hold[] = [];

  async take(step: Step, choice: number): Promise<void> {
    const deposit = this.deposits[choice % Math.max(this.deposits.length, 1)];
    const hold = this.holds[choice % Math.max(this.holds.length, 1)];
    switch (step) {
      case 'pay':
        return this.settle(aDeposit(this.account, BigInt(choice) + 1n));
      case 'pay late':
        return this.settle(aDeposit(this.account, BigInt(choice) + 1n, { disposition: 'unresolved' }));
      case 'mine again':
        return deposit && this.settle(aDeposit(this.account, deposit.amount, { outpoint: deposit.outpoint }));
      case 'reverse':
        return deposit && handle(reversed(deposit));
      case 'accept':
        return void (deposit && (await accept(deposit)));
      case 'pay out':
        return this.place(aHold(this.account, BigInt(choice) + 1n, { network_fee: '3' }));
      case 'give back':
        if (deposit?.disposition !== 'unresolved' || BigInt(deposit.amount) <= 3n) return;
        return this.place(aReturn(deposit, 3n)).catch(() => undefined);
      case 'mine':
        return this.end(hold, settle);
      case 'fail':
        return this.end(hold, release);
      case 'charge':
        return this.end(hold, (given) => release(given, true));
      case 'give up':
        return this.end(hold, giveUp);
    }
  }

  private async settle(deposit: LedgerDeposit) {
    this.deposits.push(deposit);
    await handle(settled(deposit));
  }
  private async place(hold: Hold) {
    const { state } = await one.ports.holds.decide({
      id: hold.payout_id as never,
      account: this.account,
      asset: hold.asset,
      amount: BigInt(hold.amount) as never,
      networkFee: BigInt(hold.network_fee) as never,
      deposit: hold.deposit_id as never,
    });
    if (state === 'placed') this.holds.push(hold);
  }
  private async end(hold: Hold | undefined, how: (hold: Hold) => Sent) {
    if (hold === undefined) return;
    this.holds.splice(this.holds.indexOf(hold), 1);
    await handle(how(hold));
  }
}

const steps = [
  ...['pay', 'pay', 'pay late', 'mine again', 'reverse', 'reverse', 'accept'],
  ...['pay out', 'pay out', 'give back', 'mine', 'fail', 'charge', 'give up'],
] as const;
type Step =
  | 'pay'
  | 'pay late'
  | 'mine again'
  | 'reverse'
  | 'accept'
  | 'pay out'
  | 'give back'
  | 'mine'
  | 'fail'
  | 'charge'
  | 'give up';

const typesSeen = new Set<string>();
const netsOf = (items: readonly BalanceTransaction[]) => items.reduce((sum, { net }) => sum + net, 0n);

async function exported(wanted: WantedTransactions): Promise<BalanceTransaction[]> {
  const items: BalanceTransaction[] = [];
  await exportBalanceTransactions(one.ports, wanted, async (batches) => {
    for await (const batch of batches) items.push(...batch);
  });
  return items;
}

it('after any history the list, the export, the statements and the balance agree to the unit', async () => {
  const aHistory = fc.array(fc.tuple(fc.constantFrom(...steps), fc.nat(200)), {
    minLength: 6,
    maxLength: 24,
  });
  const property = fc.asyncProperty(aHistory, async (history) => {
    const its = new History();
    for (const [step, choice] of history) await its.take(step as Step, choice);
    const { account } = its;
    const available = BigInt((await fixture.balance(account))[0]);
    // Booked now: spread over three months in the order of their booking.
    await fixture.admin.rows(
      `update transfers t set created_at = timestamptz '2026-01-01' + n * interval '90 days' / ($2 + 1)
       from (select seq, row_number() over (order by seq) - 1 as n from transfers where account_id = $1) as o
       where o.seq = t.seq`,
      [account, history.length * 2],
    );
    const wanted = { account, asset: null, type: null, source: null, createdFrom: null, createdTo: null };
    const items = await exported(wanted);
    const cursors = { startingAfter: null, endingBefore: null };
    const page = await listBalanceTransactions(one.ports, wanted, cursors, 100);
    expect(page.ok && page.value.items).toEqual(items);
    expect(netsOf(items)).toBe(available);
    expect(items[0]?.balanceAfter ?? 0n).toBe(available);
    // Each balance is the one before it and what was moved.
    const after = items.map(({ balanceAfter }) => balanceAfter);
    expect(after).toEqual(items.map(({ net }, i) => (after[i + 1] ?? 0n) + net));
    for (const item of items) {
      const shown = balanceTransactionView(item);
      typesSeen.add(shown.type);
      const [amount, fee, net] = [shown.amount, shown.fee, shown.net].map((text) => parseUnits(text, 18));
      expect(amount?.ok && fee?.ok && net?.ok && amount.value - fee.value === net.value).toBe(true);
      expect(transactionCsvLine(item).split(',').slice(4, 8)).toEqual([
        ...[shown.amount, shown.fee, shown.net, shown.balance_after],
      ]);
    }
    let opening = 0n;
    for (const name of ['2026-01', '2026-02', '2026-03', '2026-04']) {
      const month = parseMonth(name) as NonNullable<ReturnType<typeof parseMonth>>;
      const { available: now, movements } = await movementSums(fixture.db, {
        account,
        asset: 'ETH',
        ...month,
      });
      const statement = statementOf(now, movements);
      const createdTo = new Date(month.to.getTime() - 1);
      const ofMonth = await exported({ ...wanted, createdFrom: month.from, createdTo });
      expect(statement.opening).toBe(opening);
      expect(statement.total.net).toBe(netsOf(ofMonth));
      expect(statement.total.amount - statement.total.fee).toBe(statement.total.net);
      expect(statement.total.count).toBe(ofMonth.length);
      expect(statement.closing).toBe(ofMonth[0]?.balanceAfter ?? opening);
      opening = statement.closing;
    }
    expect(opening).toBe(available);
  });
  const example = [
    ['pay', 9],
    ['pay out', 3],
    ['reverse', 0],
    ['mine again', 0],
    ['pay late', 9],
    ['accept', 2],
  ] satisfies [Step, number][];
  await fc.assert(property, { seed: 1, numRuns: 30, examples: [[example]] });
  expect([...typesSeen].toSorted()).toEqual([...transactionTypes].toSorted());
  await fc.assert(property, { numRuns: 200, interruptAfterTimeLimit: 4_000, markInterruptAsFailure: false });
});
