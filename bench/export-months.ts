import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { sleep } from '@quittance/shared/clock';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { median } from './drive.ts';

/** The client reads one piece, and nothing more for so long. */
const SLOW_MS = 3_000;
const SAMPLE_EVERY_MS = 100;
const MEGABYTE = 1 << 20;

export type ExportOutcome = {
  list: (typeof lists)[number]['list'];
  rows: number;
  megabytes: number;
  /** Without the time in which the client reads nothing. */
  seconds: number;
  /** Resident memory in megabytes before and at most: of the service, and of the gateway before it. */
  service: Memory;
  gateway: Memory;
};
type Memory = { before: number; most: number };

const lists = [
  { list: 'invoices', service: 'invoices' },
  { list: 'payouts', service: 'payouts' },
  { list: 'balance-transactions', service: 'ledger' },
] as const;
const BOOK_READS = 5;

/** How long one answer about an account takes, in milliseconds: the median of a few. */
export type AnswerTime = { path: string; ms: number };

/**
 * Exports a month of an account through the gateway, of `rows` invoices, as many payouts and as many balance transactions.
 * Then asks for what adds up the same transactions, and for pages of types that are rare among them.
 */
export async function exportMonths(
  quittance: Quittance,
  rows: number,
): Promise<{ exported: ExportOutcome[]; answered: AnswerTime[] }> {
  const shop = await quittance.merchant();
  await storeInvoices(quittance, shop, rows);
  await storePayouts(quittance, shop, rows);
  await storeTransactions(quittance, shop, rows);
  const exported: ExportOutcome[] = [];
  for (const one of lists) exported.push(await exportOnce(quittance, shop, one));
  const answered: AnswerTime[] = [];
  for (const path of pathsOfBooks(new Date())) answered.push(await answerTime(shop, path));
  return { exported, answered };
}

const pathsOfBooks = (now: Date): string[] => [
  `/api/statements?month=${now.toISOString().slice(0, 7)}&asset=ETH`,
  '/api/balance-transactions?limit=100',
  '/api/balance-transactions?limit=100&type=refund',
  '/api/balance-transactions?limit=100&type=payout_failed',
];

async function answerTime(shop: Merchant, path: string): Promise<AnswerTime> {
  const times: number[] = [];
  for (let i = 0; i < BOOK_READS; i++) {
    const begun = performance.now();
    const { status } = await shop.get(path);
    if (status !== 200) throw new Error(`${path} answers ${status}`);
    times.push(performance.now() - begun);
  }
  return { path, ms: median(times) };
}

async function exportOnce(
  { url, stack: { services } }: Quittance,
  { token }: Merchant,
  { list, service: of }: (typeof lists)[number],
): Promise<ExportOutcome> {
  const [service, gateway] = [watchMemory(services[of].pid), watchMemory(services.gateway.pid)];
  const begun = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    request(`${url}/api/${list}?format=csv`, { headers, agent: false }, resolve).on('error', reject).end();
  });
  if (answer.statusCode !== 200) throw new Error(`the export of ${list} answers ${answer.statusCode}`);
  let [bytes, lines] = [0, 0];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (bytes === 0) await sleep(SLOW_MS);
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  const seconds = (performance.now() - begun - SLOW_MS) / 1_000;
  const memory = { service: service.end(), gateway: gateway.end() };
  return { list, rows: lines - 1, megabytes: bytes / MEGABYTE, seconds, ...memory };
}

/** Samples the resident memory of a process. */
function watchMemory(pid: number | undefined): { end(): Memory } {
  const read = (): number => {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1_024; // eslint-disable-line no-restricted-syntax -- memory, not money
  };
  const before = read();
  let most = before;
  const sample = () => {
    most = Math.max(most, read());
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      sample();
      return { before, most };
    },
  };
}

/** Copies of one invoice, most of them paid, with what shops note on theirs. */
async function storeInvoices({ db }: Quittance, shop: Merchant, rows: number): Promise<void> {
  const { id } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 25 })).body.data;
  await db.rows(
    `insert into invoices.invoices select copy.* from invoices.invoices i, generate_series(2, $2::int) as n,
       jsonb_populate_record(i, jsonb_build_object('id', 'inv_' || lpad(n::text, 36, '0'), 'external_id', 'order ' || n,
         'description', 'Two tickets, row ' || n, 'metadata', jsonb_build_object('customer', md5(n::text)), 'closed_at', now(),
         'status', case when n % 5 = 0 then 'expired' else 'paid' end,
         'paid_amount', case when n % 5 = 0 then 0 else i.amount_due end,
         'paid_at', case when n % 5 = 0 then null else now() end)) as copy
     where i.id = $1`,
    [id, rows],
  );
}

/** Payouts that are mined or failed. */
async function storePayouts({ db }: Quittance, shop: Merchant, rows: number): Promise<void> {
  await db.rows(
    `insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status,
       failed_reason, tx_hash, completed_at, usd_rate, external_id, metadata, created_at)
     select n, n, $1, 'ETH', 1500000000000000000 + n, 500000000000000, '0x' || repeat('ab', 20), 12,
       case when n % 5 = 0 then 'failed' else 'mined' end, case when n % 5 = 0 then 'It was refused.' end,
       '0x' || md5(n::text) || md5(n::text), case when n % 5 = 0 then null else now() end, 2500, 'wage ' || n,
       json_build_object('employee', md5(n::text)), now() - n * interval '1 second'
     from generate_series(900000001, 900000000 + $2::int) as n`,
    [shop.id, rows],
  );
}

/**
 * Of five movements four are payments and one is a hold, whose payout refunds an invoice once in fifty times. The balance is
 * what they add up to.
 */
async function storeTransactions({ db }: Quittance, shop: Merchant, rows: number): Promise<void> {
  await db.rows(
    `with moved as (
       insert into ledger.transfers (op, kind, account_id, asset, amount, network_fee, usd_rate)
       select case when n % 5 = 0 then 'hold:' || n else 'deposit:dep_' || n end,
         case when n % 5 = 0 then 'hold' else 'deposit' end, $1, 'ETH', 1000000000000000 + n,
         case when n % 5 = 0 then 500000000000 else 0 end, 2500
       from generate_series(900000001, 900000000 + $2::int) as n
       returning seq, op, kind, amount),
     named as (
       insert into ledger.deposits (deposit_id, account_id, asset, outpoint, invoice_id)
       select split_part(op, ':', 2), $1, 'ETH', op, 'inv_' || lpad(seq::text, 36, '0') from moved where kind = 'deposit'),
     held as (
       insert into ledger.holds (payout_id, account_id, asset, amount, network_fee, state, invoice_id)
       select split_part(op, ':', 2), $1, 'ETH', amount - 500000000000, 500000000000, 'placed',
         case when seq % 50 = 0 then 'inv_' || lpad(seq::text, 36, '0') end
       from moved where kind = 'hold'),
     booked as (
       insert into ledger.balances (account_id, asset, available, held)
       select $1, 'ETH', sum(case when kind = 'hold' then -amount else amount end), sum(amount) filter (where kind = 'hold')
       from moved)
     insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
     select m.seq, e.account_id, e.bucket, 'ETH', e.amount from moved m cross join lateral (values
       ($1, 'available', case when kind = 'hold' then -amount else amount end),
       (case when kind = 'hold' then $1 end, case when kind = 'hold' then 'held' else 'custody' end,
         case when kind = 'hold' then amount else -amount end)) as e (account_id, bucket, amount)`,
    [shop.id, rows],
  );
  await db.rows('analyze ledger.transfers, ledger.entries, ledger.holds, ledger.deposits');
}
