import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { formatUnits, units } from '@quittance/shared/money';
import { accountName, amountOf, history } from './history.ts';
import { withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { showUnchosenInvoice } from './show-unchosen-invoice.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { eventMoments, happened, inOrder, type Moment } from './timeline.ts';

type Invoice = {
  id: string;
  account: string;
  externalId: string | null;
  asset: AssetSymbol;
  amountDue: string;
  paidAmount: string;
  pendingAmount: string;
  currency: string;
  hundredths: string;
  status: string;
  address: string;
  createdAt: Date;
  expiresAt: Date | null;
  paidAt: Date | null;
  closedAt: Date | null;
};

type Deposit = {
  id: string;
  asset: AssetSymbol;
  outpoint: string;
  amount: string;
  state: string;
  height: number;
  firstSeenAt: Date;
  confirmedAt: Date | null;
  settledAt: Date | null;
  disposition: string | null;
  creditedAt: Date | null;
  reversedAt: Date | null;
};

const FIAT_DECIMALS = 2;

/** An invoice, and all that became of it and of the payments to its address in every service, by time. */
export const showInvoice = (around: Surroundings, id: string): Promise<SaidOutcome> =>
  withOperator(around, 'operator', async (db) => {
    const invoice = await db.maybe<Invoice>(
      `select id, account_id as account, external_id as "externalId", asset, amount_due::text as "amountDue",
         paid_amount::text as "paidAmount", pending_amount::text as "pendingAmount", currency,
         amount_fiat::text as hundredths, status,
         address, created_at as "createdAt", expires_at as "expiresAt", paid_at as "paidAt", closed_at as "closedAt"
       from invoices.invoices where id = $1`,
      [id],
    );
    if (invoice === undefined) {
      const unchosen = await showUnchosenInvoice(db, id);
      if (unchosen === undefined) throw new CommandError(`There is no invoice ${JSON.stringify(id)}.`);
      return unchosen;
    }
    const { asset } = invoice;
    const moments = inOrder([
      { at: invoice.createdAt, where: 'invoices', what: 'makes the invoice' },
      ...(await mempoolMoments(db, id)),
      ...(await depositMoments(db, id)),
      ...happened(invoice.paidAt, 'invoices', 'the invoice is paid'),
      ...happened(
        invoice.closedAt,
        'invoices',
        `the invoice is closed as ${invoice.status}: no money makes it paid any more`,
      ),
      ...(await eventMoments(db, {
        sender: 'invoices',
        where: `o.created_at >= $2::timestamptz - interval '1 minute' and
          (o.payload ->> 'invoice_id' = $1 or o.payload ->> 'resource_id' = $1)`,
        values: [id, invoice.createdAt],
      })),
      ...(await eventMoments(db, {
        sender: 'ledger',
        where: `o.kind = 'credit.recorded' and o.created_at >= $2 and o.payload ->> 'invoice_id' = $1`,
        values: [id, invoice.createdAt],
      })),
    ]);
    const account = await accountName(db, invoice.account);
    const inAsset = (text: string) => formatUnits(units(text), assets[asset].decimals);
    return {
      json: {
        id,
        account_id: invoice.account,
        account,
        external_id: invoice.externalId,
        asset,
        currency: invoice.currency,
        amount_fiat: formatUnits(units(invoice.hundredths), FIAT_DECIMALS),
        amount: inAsset(invoice.amountDue),
        pending_amount: inAsset(invoice.pendingAmount),
        paid_amount: inAsset(invoice.paidAmount),
        address: invoice.address,
        status: invoice.status,
        created_at: invoice.createdAt,
        expires_at: invoice.expiresAt,
        paid_at: invoice.paidAt,
        timeline: moments,
      },
      text: history(
        [
          ['Invoice', id + (invoice.externalId === null ? '' : ` (${invoice.externalId})`)],
          ['Account', `${account} (${invoice.account})`],
          [
            'Due',
            `${amountOf(invoice.amountDue, asset)}, ${formatUnits(units(invoice.hundredths), FIAT_DECIMALS)} ${invoice.currency}`,
          ],
          [
            'Came in',
            `${amountOf(invoice.paidAmount, asset)} final, ${amountOf(invoice.pendingAmount, asset)} not yet`,
          ],
          ['Address', invoice.address],
          ['Status', invoice.status],
          ['Expires', invoice.expiresAt?.toISOString() ?? 'never'],
        ],
        moments,
      ),
    };
  });

async function mempoolMoments(db: Db, invoice: string): Promise<Moment[]> {
  const rows = await db.rows<{
    asset: AssetSymbol;
    outpoint: string;
    amount: string;
    at: Date;
    droppedAt: Date | null;
  }>(
    `select asset, outpoint, amount::text, first_seen_at as at, dropped_at as "droppedAt" from invoices.mempool_payments
     where invoice_id = $1`,
    [invoice],
  );
  return rows.flatMap(({ asset, outpoint, amount, at, droppedAt }) => [
    { at, where: 'chain', what: `${amountOf(amount, asset)} is seen in no block yet (${outpoint})` },
    ...happened(droppedAt, 'chain', `${outpoint} waits no more and came into no block`),
  ]);
}

async function depositMoments(db: Db, invoice: string): Promise<Moment[]> {
  const deposits = await db.rows<Deposit>(
    `select id, asset, outpoint, amount::text, state, block_height as height, first_seen_at as "firstSeenAt",
       confirmed_at as "confirmedAt", settled_at as "settledAt", disposition, credited_at as "creditedAt",
       reversed_at as "reversedAt"
     from invoices.deposits where invoice_id = $1 order by first_seen_at, id`,
    [invoice],
  );
  const booked = await db.rows<{ op: string; kind: string; at: Date }>(
    `select op, kind, created_at as at from ledger.transfers where op = any($1::text[])`,
    [deposits.flatMap(({ id }) => [`deposit:${id}`, `reversal:${id}`, `accept:${id}`])],
  );
  return [
    ...deposits.flatMap((one) => [
      {
        at: one.firstSeenAt,
        where: 'chain' as const,
        what: `${amountOf(one.amount, one.asset)} arrives (${one.outpoint}), now ${one.state}, block ${one.height} (${one.id})`,
      },
      ...happened(one.confirmedAt, 'invoices', `${one.id} is as deep as it must be`),
      ...happened(one.settledAt, 'invoices', `${one.id} is settled: ${one.disposition}`),
      ...happened(one.creditedAt, 'invoices', `hears that the ledger has booked ${one.id}`),
      ...happened(one.reversedAt, 'invoices', `${one.id} is REVERSED: the chain took it back`),
    ]),
    ...booked.map(({ op, at }) => ({ at, where: 'ledger' as const, what: `books ${op}` })),
  ];
}
