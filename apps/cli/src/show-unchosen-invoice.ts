import type { AssetSymbol } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { formatUnits, units } from '@quittance/shared/money';
import { accountName, history } from './history.ts';
import type { SaidOutcome } from './outcome.ts';
import { eventMoments, happened, inOrder } from './timeline.ts';

type UnchosenInvoice = {
  account: string;
  externalId: string | null;
  assets: AssetSymbol[];
  cents: string;
  currency: string;
  status: string;
  createdAt: Date;
  expiresAt: Date | null;
  cancelledAt: Date | null;
};

const CENTS = 2;

/** An invoice whose payer has not chosen the asset yet; undefined when there is none. No payment can have arrived for it. */
export async function showUnchosenInvoice(db: Db, id: string): Promise<SaidOutcome | undefined> {
  const invoice = await db.maybe<UnchosenInvoice>(
    `select account_id as account, external_id as "externalId", assets, amount_fiat::text as cents, currency, status,
       created_at as "createdAt", expires_at as "expiresAt", cancelled_at as "cancelledAt"
     from invoices.unchosen_invoices where id = $1`,
    [id],
  );
  if (invoice === undefined) return undefined;
  const { externalId, assets, status, createdAt, expiresAt, cancelledAt } = invoice;
  const moments = inOrder([
    { at: createdAt, where: 'invoices', what: 'makes the invoice; its payer is to choose the asset' },
    ...happened(cancelledAt, 'invoices', 'the merchant cancels the invoice'),
    ...(await eventMoments(db, {
      sender: 'invoices',
      where: `o.created_at >= $2::timestamptz - interval '1 minute' and o.payload ->> 'resource_id' = $1`,
      values: [id, createdAt],
    })),
  ]);
  const account = await accountName(db, invoice.account);
  const amount = formatUnits(units(invoice.cents), CENTS);
  return {
    json: {
      ...{ id, account_id: invoice.account, account, external_id: externalId, asset: null, assets },
      ...{
        amount_fiat: amount,
        currency: invoice.currency,
        address: null,
        status,
        created_at: createdAt,
        expires_at: expiresAt,
      },
      timeline: moments,
    },
    text: history(
      [
        ['Invoice', id + (externalId === null ? '' : ` (${externalId})`)],
        ['Account', `${account} (${invoice.account})`],
        ['Due', `${amount} ${invoice.currency}; the payer has not chosen the asset: ${assets.join(', ')}`],
        ['Status', status],
        ['Expires', expiresAt?.toISOString() ?? 'never'],
      ],
      moments,
    ),
  };
}
