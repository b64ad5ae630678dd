import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { sleep } from '@quittance/shared/clock';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';

/** The client reads one piece, and nothing more for so long. */
const SLOW_MS = 3_000;
const SAMPLE_EVERY_MS = 100;
const MEGABYTE = 1 << 20;

export type ExportOutcome = {
  list: 'invoices' | 'payouts';
  rows: number;
  megabytes: number;
  /** Without the time in which the client reads nothing. */
  seconds: number;
  /** Resident memory in megabytes before and at most: of the service, and of the gateway before it. */
  service: Memory;
  gateway: Memory;
};
type Memory = { before: number; most: number };

/** Exports a month of an account through the gateway, of `rows` invoices and as many payouts. */
export async function exportMonths(quittance: Quittance, rows: number): Promise<ExportOutcome[]> {
  const shop = await quittance.merchant();
  await storeInvoices(quittance, shop, rows);
  await storePayouts(quittance, shop, rows);
  const outcomes: ExportOutcome[] = [];
  for (const list of ['invoices', 'payouts'] as const) {
    outcomes.push(await exportOnce(quittance, shop, list));
  }
  return outcomes;
}

async function exportOnce(
  { url, stack: { services } }: Quittance,
  { token }: Merchant,
  list: ExportOutcome['list'],
): Promise<ExportOutcome> {
  const [service, gateway] = [watchMemory(services[list].pid), watchMemory(services.gateway.pid)];
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
