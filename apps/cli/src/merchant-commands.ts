import type { CreateInvoice, CreatePayout, Quittance } from '@quittance/client';
import { creating, readingCreated } from './api-errors.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { table } from './table.ts';

/* What a merchant asks of the API, printed for a person. With --json it is what the API answers. */

type Shown = string | number | boolean | null | undefined;

/** The fields of one resource, below each other. */
export function fields(json: object, shown: Readonly<Record<string, Shown>>): SaidOutcome {
  const rows = Object.entries(shown).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
  return { json, text: table(['field', 'value'], rows) };
}

/** Resources in a table. */
export function rows<T extends object>(
  items: readonly T[],
  head: readonly string[],
  row: (item: T) => Shown[],
): SaidOutcome {
  const cells = items.map((item) => row(item).map((value) => String(value ?? '')));
  return { json: items, text: items.length === 0 ? say`There are none.\n` : table(head, cells) };
}

type Invoice = Awaited<ReturnType<Quittance['invoices']['retrieve']>>;
const invoiceFields = (invoice: Invoice): SaidOutcome =>
  fields(invoice, {
    id: invoice.id,
    status: invoice.status,
    price: `${invoice.amount_fiat} ${invoice.currency}`,
    amount:
      invoice.asset === null
        ? `the payer chooses: ${invoice.assets?.join(', ')}`
        : `${invoice.amount} ${invoice.asset.symbol}`,
    paid: invoice.paid_amount,
    address: invoice.address?.address,
    external_id: invoice.external_id,
    expires_at: invoice.expires_at,
    url: invoice.url,
  });

export type InvoiceOptions = {
  asset?: string;
  currency?: string;
  externalId?: string;
  description?: string;
  expiresIn?: string;
  idempotencyKey?: string;
};

export async function createInvoice(
  quittance: Quittance,
  amount: string,
  { asset, currency, externalId, description, expiresIn, idempotencyKey }: InvoiceOptions,
): Promise<SaidOutcome> {
  // The API checks all of it, and says what is right.
  const order = {
    amount,
    ...(asset === undefined ? { assets: 'all' } : { asset }),
    ...(currency && { currency }),
    ...(externalId && { external_id: externalId }),
    ...(description && { description }),
    ...(expiresIn && { expires_in: expiresIn }),
  };
  const created = quittance.invoices.create(order as unknown as CreateInvoice, { idempotencyKey });
  return invoiceFields(await creating(created));
}

export const getInvoice = async (quittance: Quittance, id: string): Promise<SaidOutcome> =>
  invoiceFields(await quittance.invoices.retrieve(id));

export const cancelInvoice = async (quittance: Quittance, id: string): Promise<SaidOutcome> =>
  invoiceFields(await quittance.invoices.cancel(id));

export type ListOptions = {
  limit: number;
  status?: string;
  asset?: string;
  externalId?: string;
  waiting?: boolean;
};

const queryOf = ({ limit, status, asset, externalId, waiting }: ListOptions) =>
  ({
    perPage: Math.min(limit, 100),
    ...(status && { status }),
    ...(asset && { asset }),
    ...(externalId && { external_id: externalId }),
    ...(waiting && { approval: 'waiting' }),
  }) as never;

export async function firstOf<T>(items: AsyncIterable<T>, limit: number): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length >= limit) break;
  }
  return found;
}

export async function listInvoices(quittance: Quittance, options: ListOptions): Promise<SaidOutcome> {
  const invoices = await firstOf(quittance.invoices.list(queryOf(options)), options.limit);
  return rows(
    invoices,
    ['id', 'created', 'status', 'price', 'amount', 'external id'],
    ({ id, created_at, status, amount_fiat, currency = 'USD', amount, asset, external_id }) => [
      ...[id, created_at, status, `${amount_fiat} ${currency}`],
      ...[asset === null ? 'the payer chooses' : `${amount} ${asset.symbol}`, external_id],
    ],
  );
}

type Payout = Awaited<ReturnType<Quittance['payouts']['retrieve']>>;
const payoutFields = (payout: Payout): SaidOutcome =>
  fields(payout, {
    id: payout.id,
    status: payout.status,
    amount: `${payout.amount} ${payout.asset.symbol}`,
    network_fee: payout.network_fee,
    to_address: payout.to_address,
    tx_hash: payout.tx_hash,
    failed_reason: payout.failed_reason || null,
    approval: payout.approval && approvalOf(payout.approval),
    external_id: payout.external_id,
    created_at: payout.created_at,
  });

function approvalOf({ status, needed, given }: NonNullable<Payout['approval']>): string {
  const approved = given.filter(({ decision }) => decision === 'approved').length;
  return `${status}, approved by ${approved} of ${needed}`;
}

export type PayoutOptions = { externalId?: string; idempotencyKey?: string };

export async function createPayout(
  quittance: Quittance,
  [asset, amount, address]: readonly [string, string, string],
  { externalId, idempotencyKey }: PayoutOptions,
): Promise<SaidOutcome> {
  const order = { asset, amount, address, ...(externalId && { external_id: externalId }) };
  const { id } = await creating(quittance.payouts.create(order as CreatePayout, { idempotencyKey }));
  return payoutFields(await readingCreated('Payout', id, quittance.payouts.retrieve(id)));
}

export const getPayout = async (quittance: Quittance, id: string): Promise<SaidOutcome> =>
  payoutFields(await quittance.payouts.retrieve(id));

export const cancelPayout = async (quittance: Quittance, id: string): Promise<SaidOutcome> =>
  payoutFields(await quittance.payouts.cancel(id));

export const approvePayout = async (quittance: Quittance, id: string): Promise<SaidOutcome> =>
  payoutFields(await quittance.payouts.approve(id));

export const rejectPayout = async (quittance: Quittance, id: string): Promise<SaidOutcome> =>
  payoutFields(await quittance.payouts.reject(id));

export async function quotePayout(quittance: Quittance, asset: string, amount: string): Promise<SaidOutcome> {
  const quote = await quittance.payouts.quote({ asset, amount } as never);
  const { network_fee, total, usd_value } = quote;
  return fields(quote, { amount: quote.amount, network_fee, total, usd_value });
}

export async function listPayouts(quittance: Quittance, options: ListOptions): Promise<SaidOutcome> {
  const payouts = await firstOf(quittance.payouts.list(queryOf(options)), options.limit);
  return rows(
    payouts,
    ['id', 'created', 'status', 'amount', 'to', 'external id'],
    ({ id, created_at, status, amount, asset, to_address, external_id }) => [
      ...[id, created_at, status, `${amount} ${asset.symbol}`, to_address, external_id],
    ],
  );
}

export async function listBalances(quittance: Quittance): Promise<SaidOutcome> {
  return rows(
    await quittance.balances.list(),
    ['asset', 'balance', 'held', 'US dollars'],
    ({ asset, balance, held, usd_value }) => [asset.symbol, balance, held, usd_value],
  );
}

export async function showStatement(
  quittance: Quittance,
  month: string,
  { asset, currency }: { asset: string; currency?: string },
): Promise<SaidOutcome> {
  const query = { month, asset, ...(currency && { currency }) };
  const statement = await quittance.statements.retrieve(query as never);
  const { opening_balance, closing_balance, complete, entries } = statement;
  return {
    json: statement,
    text: say`${fields(statement, { opening_balance, closing_balance, complete }).text}\n${table(
      ['entry', 'count', 'amount', 'fee', 'net', statement.currency],
      entries.map(({ type, count, amount, fee, net, value }) =>
        [type, count, amount, fee, net, value ?? ''].map(String),
      ),
    )}`,
  };
}
