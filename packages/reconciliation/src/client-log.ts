import { type AssetSymbol, assets, isAssetSymbol } from '@quittance/shared/assets';
import type { Queryable } from '@quittance/shared/db';
import { parseUnits } from '@quittance/shared/money';
import { z } from 'zod';
import type { Discrepancy } from './discrepancy.ts';

/** One question of a client and what it was answered. No status: it never heard. */
export type ClientCall = {
  account: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** The body as it was sent. */
  body?: string;
  key?: string;
  status?: number;
  answer?: unknown;
};

/** What a client wrote down of all it asked and was answered, in the order of the answers. */
export type ClientLog = ClientCall[];

const clientWasToldTheTruth = 'what a client was answered is what the database says';

const created = z.object({ data: z.object({ id: z.union([z.string(), z.number()]).transform(String) }) });
const shownPayout = z.object({
  id: z.union([z.string(), z.number()]).transform(String),
  type: z.literal('payout'),
  status: z.enum(['pending', 'mined', 'failed']),
  tx_hash: z.string().nullable(),
});
const shownInvoice = z.object({ data: z.object({ id: z.string(), status: z.string() }) });

/** Nothing was done, and nothing will be. Any other answer, or none, leaves it open. */
const UNDONE: readonly number[] = [400, 401, 403, 404, 409, 413, 422, 429, 503];

type PayoutRow = {
  id: string;
  account_id: string;
  asset: AssetSymbol;
  amount: string;
  status: string;
  tx_hash: string | null;
  is_refund: boolean;
};

/**
 * Compares what clients were answered with the database: who heard 201 has exactly one payout, as it was asked for; who
 * was refused, or told that nothing was done, has none; and what was shown as ended has ended so.
 */
export async function checkClientLog(db: Queryable, log: ClientLog): Promise<Discrepancy[]> {
  const accounts = [...new Set(log.map(({ account }) => account))];
  const payouts = await db.rows<PayoutRow>(
    `select id::text as id, account_id, asset, amount::text as amount, status, tx_hash,
       returns_deposit is not null or refund_id is not null as is_refund
     from payouts.payouts where account_id = any($1) and status not in ('requested', 'refused', 'voided')`,
    [accounts],
  );
  const invoices = await db.rows<{ id: string; account_id: string; status: string }>(
    'select id, account_id, status from invoices.invoices where account_id = any($1)',
    [accounts],
  );
  const discrepancies = new Map<string, string>();
  const report = (subject: string, what: string) => discrepancies.set(subject, what);
  // Refunds and unresolved money are paid back by other requests than the one for a payout.
  const asked = payouts.filter((row) => !row.is_refund);
  comparePayoutRequests(log, asked, report);
  compareInvoices(log, new Map(invoices.map((row) => [row.id, row])), report);
  compareShown(log, new Map(payouts.map((row) => [row.id, row])), report);
  return [...discrepancies].map(([subject, what]) => ({
    invariant: 'I9',
    name: 'answers-match-database',
    meaning: clientWasToldTheTruth,
    what,
    subject,
    pausesPayouts: false,
  }));
}

type Report = (subject: string, what: string) => void;
type Wanted = { asset: AssetSymbol; amount: string };

function wantedBy(body: string | undefined): Wanted | undefined {
  // The amount from its source text: a double may be another one.
  const [, number = ''] = /"amount"\s*:\s*"?([-+.\deE]+)"?/.exec(body ?? '') ?? [];
  const [, asset = ''] = /"asset"\s*:\s*"(\w+)"/.exec(body ?? '') ?? [];
  if (!isAssetSymbol(asset)) return undefined;
  const amount = parseUnits(number, assets[asset].decimals);
  return amount.ok ? { asset, amount: amount.value.toString() } : undefined;
}

/** What was asked for: all tries with one key are one request. */
type Request = {
  account: string;
  name: string;
  wanted: Wanted | undefined;
  ids: Set<string>;
  isOpen: boolean;
};

function requestsOf(log: ClientLog, path: string): Request[] {
  const requests = new Map<string, Request>();
  for (const [i, call] of log.entries()) {
    if (call.method !== 'POST' || call.path !== path) continue;
    const { account, key, status, body, answer } = call;
    const name = `${account} ${key === undefined ? `call ${i}` : `key ${key}`}`;
    const request = requests.get(name) ?? {
      account,
      name,
      wanted: wantedBy(body),
      ids: new Set<string>(),
      isOpen: false,
    };
    requests.set(name, request);
    const made = status === 201 ? created.safeParse(answer) : undefined;
    if (made?.success === true) request.ids.add(made.data.data.id);
    else if (status === undefined || !UNDONE.includes(status)) request.isOpen = true;
  }
  return [...requests.values()];
}

function comparePayoutRequests(log: ClientLog, payouts: readonly PayoutRow[], report: Report): void {
  const byId = new Map(payouts.map((row) => [row.id, row]));
  const requests = requestsOf(log, '/api/payouts');
  const told = new Set<string>();
  for (const { account, name, wanted, ids } of requests) {
    if (ids.size > 1) report(name, `${name} was told of ${ids.size} payouts: ${[...ids].join(', ')}`);
    for (const id of ids) {
      if (told.has(id))
        report(`payout ${id}`, `payout ${id} was told to two requests, the second is ${name}`);
      told.add(id);
      const row = byId.get(id);
      if (row === undefined)
        report(`payout ${id}`, `payout ${id} was answered 201 to ${name}, and does not exist`);
      else if (row.account_id !== account)
        report(`payout ${id}`, `payout ${id} of ${name} is ${row.account_id}'s`);
      else if (wanted !== undefined && (row.asset !== wanted.asset || row.amount !== wanted.amount)) {
        report(
          `payout ${id}`,
          `payout ${id} is of ${row.amount} ${row.asset}, ${name} asked for ${wanted.amount} ${wanted.asset}`,
        );
      }
    }
  }
  // Those whose answer was lost may stand behind payouts that nobody was told of; nobody else may.
  const same = (row: PayoutRow) => `${row.account_id} ${row.asset} ${row.amount}`;
  const untold = payouts.filter(({ id }) => !told.has(id));
  for (const [terms, rows] of Map.groupBy(untold, same)) {
    const open = requests.filter(
      ({ account, wanted, ids, isOpen }) =>
        isOpen && ids.size === 0 && `${account} ${wanted?.asset} ${wanted?.amount}` === terms,
    );
    if (rows.length <= open.length) continue;
    const ids = rows.map(({ id }) => id).join(', ');
    report(
      `untold ${terms}`,
      `${rows.length} payouts of ${terms} exist that no client was told of (${ids}), answers to ${open.length} were lost`,
    );
  }
}

function compareInvoices(
  log: ClientLog,
  invoices: ReadonlyMap<string, { account_id: string; status: string }>,
  report: Report,
): void {
  for (const { account, name, ids } of requestsOf(log, '/api/invoices')) {
    if (ids.size > 1) report(name, `${name} was told of ${ids.size} invoices: ${[...ids].join(', ')}`);
    for (const id of ids) {
      if (invoices.get(id)?.account_id !== account)
        report(`invoice ${id}`, `invoice ${id} was answered 201 to ${name}, and does not exist`);
    }
  }
  for (const { method, status, answer } of log) {
    if (method !== 'GET' || status !== 200) continue;
    const shown = shownInvoice.safeParse(answer);
    if (!shown.success || shown.data.data.status !== 'paid') continue;
    const { id } = shown.data.data;
    const now = invoices.get(id)?.status;
    if (now !== 'paid') report(`invoice ${id}`, `invoice ${id} was shown as paid, it is ${now ?? 'missing'}`);
  }
}

/** What has ended stays ended. */
function compareShown(log: ClientLog, payouts: ReadonlyMap<string, PayoutRow>, report: Report): void {
  for (const { method, path, status, answer } of log) {
    if (method !== 'GET' || status !== 200 || !path.startsWith('/api/payouts')) continue;
    const list = z.object({ data: z.array(shownPayout) }).safeParse(answer);
    const one = shownPayout.safeParse(answer);
    for (const shown of list.success ? list.data.data : one.success ? [one.data] : []) {
      const row = payouts.get(shown.id);
      if (row === undefined) report(`payout ${shown.id}`, `payout ${shown.id} was shown, and does not exist`);
      else if (shown.status !== 'pending' && row.status !== shown.status) {
        report(`payout ${shown.id}`, `payout ${shown.id} was shown as ${shown.status}, it is ${row.status}`);
      } else if (shown.status === 'mined' && row.tx_hash !== shown.tx_hash) {
        report(
          `payout ${shown.id}`,
          `payout ${shown.id} was shown as mined by ${shown.tx_hash}, it is by ${row.tx_hash}`,
        );
      }
    }
  }
}
