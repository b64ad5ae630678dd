import { invoicesTable } from '@quittance/invoices/csv-file';
import { allInvoices } from '@quittance/invoices/store/invoice-reads';
import { statementCsv, transactionsTable } from '@quittance/ledger/csv-files';
import { parseMonth, statementOf } from '@quittance/ledger/domain/statement';
import { allTransactions, movementSums } from '@quittance/ledger/store/balance-transactions';
import { statementView } from '@quittance/ledger/views';
import { payoutsTable } from '@quittance/payouts/csv-file';
import { allPayouts } from '@quittance/payouts/store/payout-list';
import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import type { CsvTable } from '@quittance/shared/csv';
import type { Selection, Statement } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { parseUnits } from '@quittance/shared/money';
import { ACCOUNTS } from './accounts.ts';
import type { Environment } from './environment.ts';
import type { ExportedFile } from './mutant.ts';
import { queryable } from './ports.ts';
import type { SimService } from './process.ts';

type Line = Readonly<Record<string, string>>;

const anyOf = {
  invoices: {
    status: null,
    asset: null,
    external_id: null,
    external_id_prefix: null,
    address: null,
    tx_hash: null,
    amount_fiat: null,
    currency: null,
    payment_link_id: null,
    created_from: null,
    created_to: null,
    paid_from: null,
    paid_to: null,
  },
  payouts: {
    statuses: null,
    asset: null,
    createdFrom: null,
    createdTo: null,
    externalId: null,
    depositId: null,
    refundId: null,
    invoiceId: null,
    txHash: null,
    batchId: null,
    addresses: null,
  },
  transactions: {
    kind: null,
    reasons: null,
    isRefund: null,
    seqs: null,
    createdFrom: null,
    createdBefore: null,
  },
} as const;

/** When nothing is in flight, what an account exports agrees with its balances to the unit. */
export async function brokenExports(environment: Environment): Promise<string[]> {
  const found: string[] = [];
  for (const account of ACCOUNTS) found.push(...(await brokenFilesOf(environment, account)));
  return found;
}

async function brokenFilesOf(environment: Environment, account: AccountId): Promise<string[]> {
  // What a return gives back goes to the balance when the rest was accepted, and also of one that is in no file.
  const returned = 'select id::text as id from payouts where returns_deposit is not null';
  const returns = new Set(environment.database.run('payouts', returned, [], false).map(({ id }) => id));
  const invoices = fileOf(environment, 'invoices', {
    file: 'invoices',
    table: invoicesTable,
    selection: allInvoices(account, anyOf.invoices),
  });
  const payouts = fileOf(environment, 'payouts', {
    file: 'payouts',
    table: payoutsTable,
    selection: allPayouts({ account, ...anyOf.payouts }),
  });
  const transactions = fileOf(environment, 'ledger', {
    file: 'balance-transactions',
    table: transactionsTable('USD'),
    selection: allTransactions({ account, assets: assetSymbols, currency: 'USD', ...anyOf.transactions }),
  });
  const found: string[] = [];
  for (const asset of environment.chain.assets) {
    const said = (file: ExportedFile, what: string) =>
      found.push(`the file ${file} of ${account} in ${asset}: ${what}`);
    const own = transactions.filter((line) => line['asset'] === asset);
    const statement = await statementFile(environment, account, asset);
    compareStatement(own, statement, asset, availableOf(environment, account, asset), said);
    const paidOut = own.filter(({ payout_id: id = '' }) => id !== '' && !returns.has(id));
    comparePayouts(
      paidOut,
      payouts.filter((line) => line['asset'] === asset),
      asset,
      said,
    );
    const paidIn = own.filter((line) => PAYMENTS.includes(line['type'] ?? ''));
    compareInvoices(
      paidIn,
      invoices.filter((line) => line['asset'] === asset),
      asset,
      said,
    );
  }
  return found;
}

/** What a payment brought, and what of it was taken back: a deposit that is mined again is a payment once more. */
const PAYMENTS = ['payment', 'payment_reversal', 'payment_recovery'];

type Said = (file: ExportedFile, what: string) => void;
type File<R extends object> = { file: ExportedFile; table: CsvTable<R>; selection: Selection<R> };

function fileOf<R extends object>(
  { database, wiring }: Environment,
  service: SimService,
  { file, table, selection: { rows, values } }: File<R>,
): Line[] {
  const text = wiring.files.get(file)?.(rows.text) ?? rows.text;
  const read = database.run(service, { ...rows, text }, values, false) as R[];
  return linesOf([table.head, ...read.map(table.line)].join(''));
}

const MONTH = parseMonth('2026-03');

async function statementFile(
  { database, wiring, scheduler }: Environment,
  account: AccountId,
  asset: AssetSymbol,
): Promise<Line[]> {
  if (MONTH === undefined) throw new Error('the scenarios have a month');
  const changed = (sql: Statement | string): Statement | string =>
    typeof sql === 'string' ? sql : { ...sql, text: wiring.files.get('statement')?.(sql.text) ?? sql.text };
  const db = queryable(async (sql, values = []) => database.run('ledger', changed(sql), values, false));
  const { available, movements } = await movementSums(db, {
    account,
    asset,
    currency: 'USD',
    from: MONTH.from,
    to: MONTH.to,
  });
  const statement = statementOf(available, movements);
  return linesOf(
    statementCsv(statementView({ asset, currency: 'USD' }, MONTH, statement, new Date(scheduler.now))),
  );
}

function availableOf({ database }: Environment, account: AccountId, asset: AssetSymbol): bigint {
  const sql = 'select available::text as available from balances where account_id = $1 and asset = $2';
  const [row] = database.run('ledger', sql, [account, asset], false);
  return BigInt((row?.['available'] as string | undefined) ?? 0);
}

/** The movements add up to the balance, and the statement adds them up by their types. */
function compareStatement(
  transactions: readonly Line[],
  statement: readonly Line[],
  asset: AssetSymbol,
  available: bigint,
  said: Said,
): void {
  const sum = (lines: readonly Line[], column: string) => sumOf(lines, column, asset);
  const net = sum(transactions, 'net');
  if (net !== available) said('balance-transactions', `${net} moved, and the balance is ${available}`);
  let after = available;
  for (const line of transactions) {
    const [first, moved] = [sum([line], 'balance_after'), sum([line], 'net')];
    if (first !== after || sum([line], 'amount') - sum([line], 'fee') !== moved)
      said('balance-transactions', `the balance after ${line['id']} is ${first}, and it was ${after}`);
    after -= moved;
  }
  const types = Map.groupBy(transactions, (line) => line['type'] ?? '');
  const entry = (name: string) => statement.filter((line) => line['entry'] === name);
  for (const column of ['amount', 'fee', 'net']) {
    for (const [type, lines] of types) {
      const [stated, moved] = [sum(entry(type), column), sum(lines, column)];
      if (stated !== moved) said('statement', `${column} of ${type} is ${stated}, and ${moved} moved`);
    }
    if (sum(statement, column) !== sum(transactions, column))
      said('statement', `${column} of all is ${sum(statement, column)}`);
  }
  const [opening, closing] = ['opening_balance', 'closing_balance'].map((name) =>
    sum(entry(name), 'balance'),
  );
  if (opening !== 0n || closing !== available)
    said('statement', `from ${opening} to ${closing}, and the balance is ${available}`);
}

/** A payout has cost what its holds and releases took from the balance. One that was refused or voided is in no file. */
function comparePayouts(
  transactions: readonly Line[],
  payouts: readonly Line[],
  asset: AssetSymbol,
  said: Said,
): void {
  for (const id of idsTwiceIn(payouts)) said('payouts', `payout ${id} is there twice`);
  const ids = new Set([
    ...transactions.map((line) => line['payout_id']),
    ...payouts.map((line) => line['id']),
  ]);
  for (const id of ids) {
    const file = payouts.filter((line) => line['id'] === id);
    // What is returned of a deposit was in no balance.
    if (file.some((line) => line['deposit_id'] !== '')) continue;
    const own = transactions.filter((line) => line['payout_id'] === id);
    const cost = sumOf(file, 'amount_paid', asset) + sumOf(file, 'fee_paid', asset);
    const net = sumOf(own, 'net', asset);
    if (cost + net !== 0n) said('payouts', `payout ${id} has cost ${cost}, and ${-net} left the balance`);
    const refunds = file[0]?.['invoice_id'] ?? '';
    for (const { type = '', source_id } of own) {
      if (file.length > 0 && (refunds !== '') !== type.startsWith('refund'))
        said('balance-transactions', `payout ${id} refunds "${refunds}", and is a ${type}`);
      if (refunds !== '' && source_id !== refunds)
        said('balance-transactions', `payout ${id} refunds ${source_id}`);
    }
  }
}

/** What is credited of an invoice came into the balance. What was taken back may have been written off. */
function compareInvoices(
  payments: readonly Line[],
  invoices: readonly Line[],
  asset: AssetSymbol,
  said: Said,
): void {
  for (const id of idsTwiceIn(invoices)) said('invoices', `invoice ${id} is there twice`);
  const known = new Set(invoices.map((line) => line['id']));
  for (const { source_id: id } of payments) if (!known.has(id)) said('invoices', `invoice ${id} is missing`);
  for (const line of invoices) {
    if (sumOf([line], 'reversed_amount', asset) !== 0n) continue;
    const credited = sumOf([line], 'credited_amount', asset);
    const came = sumOf(
      payments.filter((one) => one['source_id'] === line['id']),
      'amount',
      asset,
    );
    if (credited !== came) said('invoices', `${credited} of ${line['id']} are credited, and ${came} came`);
  }
}

const idsTwiceIn = (lines: readonly Line[]): string[] =>
  [...Map.groupBy(lines, (line) => line['id'] ?? '')].flatMap(([id, all]) => (all.length > 1 ? [id] : []));

function sumOf(lines: readonly Line[], column: string, asset: AssetSymbol): bigint {
  return lines.reduce((sum, line) => {
    const text = line[column] ?? '';
    if (text === '') return sum;
    const parsed = parseUnits(text.replace(/^-/, ''), assets[asset].decimals);
    if (!parsed.ok) throw new Error(`${text} is no amount of ${asset}`);
    return sum + (text.startsWith('-') ? -parsed.value : parsed.value);
  }, 0n);
}

const CELL = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g;

/** The lines of a file, by its head. */
function linesOf(text: string): Line[] {
  const table: string[][] = [[]];
  for (const [, cell = '', end] of text.matchAll(CELL)) {
    const value = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
    table.at(-1)?.push(value);
    if (end === '\r\n') table.push([]);
  }
  const [head = [], ...lines] = table.slice(0, -1);
  return lines.map((cells) => Object.fromEntries(head.map((name, i) => [name, cells[i] ?? ''])));
}
