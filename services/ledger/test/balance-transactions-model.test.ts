import { expect, it } from '@jest/globals';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, parseUnits, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { transactionTypes } from '../src/domain/balance-transaction.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn,
  askHttp,
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

const { fixture, one, discrepancies, handle, accept } = openLedger();

const symbols = ['ETH', 'USDC_ERC20'] as const satisfies AssetSymbol[];
type Symbol = (typeof symbols)[number];

/** What happened to an account in one asset, as random numbers choose it. */
class History {
  readonly account: AccountId;
  readonly asset: Symbol;
  readonly deposits: LedgerDeposit[] = [];
  readonly holds: Hold[] = [];
  constructor(account: AccountId, asset: Symbol) {
    this.account = account;
    this.asset = asset;
  }

  async take(step: Step, choice: number): Promise<void> {
    const deposit = this.deposits[choice % Math.max(this.deposits.length, 1)];
    const hold = this.holds[choice % Math.max(this.holds.length, 1)];
    const { asset } = this;
    switch (step) {
      case 'pay':
        return this.settle(aDeposit(this.account, BigInt(choice) + 1n, { asset }));
      case 'pay late':
        return this.settle(aDeposit(this.account, BigInt(choice) + 1n, { asset, disposition: 'unresolved' }));
      case 'mine again':
        return (
          deposit &&
          this.settle(aDeposit(this.account, deposit.amount, { asset, outpoint: deposit.outpoint }))
        );
      case 'reverse':
        return deposit && handle(reversed(deposit));
      case 'accept':
        return void (deposit && (await accept(deposit)));
      case 'pay out':
        return this.place(aHold(this.account, BigInt(choice) + 1n, { asset, network_fee: '3' }));
      case 'refund': {
        const invoice_id = `inv_${choice}`;
        return this.place(aHold(this.account, BigInt(choice) + 1n, { asset, network_fee: '3', invoice_id }));
      }
      case 'give back':
        if (deposit?.disposition !== 'unresolved' || BigInt(deposit.amount) <= 3n) return;
        return this.place(aReturn(deposit, 3n, { asset })).catch(() => undefined);
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
      invoice: hold.invoice_id ?? null,
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
  ...['pay out', 'pay out', 'refund', 'give back', 'mine', 'fail', 'charge', 'give up'],
] as const;
type Step = (typeof steps)[number];

type Line = { id: string; month: string; type: string; asset: string; value: bigint | undefined } & Record<
  'amount' | 'fee' | 'net' | 'balance_after',
  bigint
>;

function hundredths(text: string): bigint {
  const parsed = parseUnits(text, 2);
  if (!parsed.ok) throw new Error(`${text} is no value`);
  return parsed.value;
}

/** Reads a file of balance transactions as a bookkeeper's program would, by the names of its columns. */
function linesOf(csv: string): Line[] {
  const [head = '', ...rows] = csv.trimEnd().split('\r\n');
  const names = head.split(',');
  return rows.map((row) => {
    const cells = row.split(',');
    const cell = (name: string) => cells[names.indexOf(name)] ?? '';
    const asset = cell('asset') as AssetSymbol;
    const number = (name: string): bigint => {
      const parsed = parseUnits(cell(name), assets[asset].decimals);
      if (!parsed.ok) throw new Error(`${name} of ${row} is no amount`);
      return parsed.value;
    };
    const [amount, fee, net, balance_after] = ['amount', 'fee', 'net', 'balance_after'].map(number);
    const text = { id: cell('id'), month: cell('created_at').slice(0, 7), type: cell('type'), asset };
    const value = cell('value') === '' ? undefined : hundredths(cell('value'));
    return { ...text, value, amount, fee, net, balance_after } as Line;
  });
}

const total = (lines: readonly Line[], name: 'amount' | 'fee' | 'net') =>
  lines.reduce((sum, line) => sum + line[name], 0n);

const typesSeen = new Set<string>();

/** Expects that file, statements and balance of one asset agree to the unit. */
async function expectClosedMonths(
  account: AccountId,
  asset: Symbol,
  lines: readonly Line[],
  balance: string,
) {
  const show = (amount: bigint) => formatUnits(units(amount), assets[asset].decimals);
  // Newest first: each balance is the one before it and what was moved.
  const after = lines.map((line) => line.balance_after);
  expect(after).toEqual(lines.map(({ net }, i) => (after[i + 1] ?? 0n) + net));
  expect([show(total(lines, 'net')), show(after[0] ?? 0n)]).toEqual([balance, balance]);
  let opening = '0';
  for (const month of ['2026-01', '2026-02', '2026-03', '2026-04']) {
    const { body } = await askHttp(
      one,
      `/api/statements?month=${month}&asset=${asset}&currency=EUR`,
      account,
    );
    const ofMonth = lines.filter((line) => line.month === month);
    const sums = (some: readonly Line[]) => ({
      count: some.length,
      ...{
        amount: show(total(some, 'amount')),
        fee: show(total(some, 'fee')),
        net: show(total(some, 'net')),
        value: formatUnits(units(some.reduce((sum, { value }) => sum + (value ?? 0n), 0n)), 2),
        without_value: some.filter(({ value }) => value === undefined).length,
      },
    });
    const types = transactionTypes.filter((type) => ofMonth.some((line) => line.type === type));
    expect(body).toMatchObject({
      opening_balance: opening,
      entries: types.map((type) => ({ type, ...sums(ofMonth.filter((line) => line.type === type)) })),
      total: sums(ofMonth),
      closing_balance: ofMonth[0] === undefined ? opening : show(ofMonth[0].balance_after),
    });
    opening = body.closing_balance;
  }
  expect(opening).toBe(balance);
}

it('after any history the export, the list, the statements of all months and the balances agree to the unit, and values to the cent', async () => {
  const aHistory = fc.array(
    fc.tuple(fc.constantFrom(...steps), fc.nat(200), fc.constantFrom('ETH', 'ETH', 'ETH', 'USDC_ERC20')),
    { minLength: 6, maxLength: 24 },
  );
  // A rate a day, but for one week.
  await fixture.admin.rows(
    `insert into currency_rates select 'EUR', timestamptz '2026-01-01' + n * interval '1 day', 1.07 + n / 777.0
     from generate_series(0, 90) as n where n not between 31 and 37`,
  );
  const property = fc.asyncProperty(aHistory, async (history) => {
    const account = anAccount();
    const [ether, dollars] = symbols.map((asset) => new History(account, asset)) as [History, History];
    for (const [step, choice, asset] of history) {
      await (asset === 'ETH' ? ether : dollars).take(step, choice);
    }
    // Booked now: spread over three months in the order of their booking.
    await fixture.admin.rows(
      `update transfers t set created_at = timestamptz '2026-01-01' + n * interval '90 days' / ($2 + 1),
         usd_rate = case when n % 7 < 6 then 1234.56789 / (n + 1) end
       from (select seq, row_number() over (order by seq) - 1 as n from transfers where account_id = $1) as o
       where o.seq = t.seq`,
      [account, history.length * 2],
    );
    const [file, list, balances] = await Promise.all(
      ['balance-transactions?format=csv&currency=EUR', 'balance-transactions?limit=100', 'balances'].map(
        (path) => askHttp(one, `/api/${path}`, account),
      ),
    );
    const lines = linesOf(file?.text ?? '');
    expect(lines.map(({ id }) => id)).toEqual(list?.body.data.map((item: { id: string }) => item.id));
    for (const line of lines) {
      expect(line.amount - line.fee).toBe(line.net);
      typesSeen.add(line.type);
    }
    for (const symbol of symbols) {
      const shown = balances?.body.data.find(
        (one: { asset: { symbol: string } }) => one.asset.symbol === symbol,
      );
      const ofAsset = lines.filter(({ asset }) => asset === symbol);
      await expectClosedMonths(account, symbol, ofAsset, shown.balance);
    }
    expect(await discrepancies()).toEqual([]);
  });
  const example = [
    ['pay', 9, 'ETH'],
    ['pay out', 3, 'ETH'],
    ['reverse', 0, 'ETH'],
    ['mine again', 0, 'ETH'],
    ['pay late', 9, 'ETH'],
    ['accept', 2, 'ETH'],
  ] satisfies [Step, number, Symbol][];
  await fc.assert(property, { seed: 1, numRuns: 30, examples: [[example]] });
  expect([...typesSeen].toSorted()).toEqual([...transactionTypes].toSorted());
  await assertProperty(property, { least: 10, most: 200, withinMs: 2_000 });
});
