import { assetSymbols } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import { type Page, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { ok, type Result } from '@quittance/shared/result';
import { type FieldErrors, form, rules } from '@quittance/shared/validation';
import { statuses } from '../domain/invoice.ts';
import type { Ports } from '../ports.ts';
import { listInvoices as readPage } from '../store/invoice-reads.ts';
import { listItemView, type ViewPorts } from '../views.ts';

const listForm = form({
  perPage: perPageField,
  status: rules.oneOf(statuses).optional,
  asset: rules.oneOf(assetSymbols).optional,
  external_id: rules.text(255).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
});

type Query = Record<string, unknown>;
type Item = ReturnType<typeof listItemView>;

/** A page of the caller's invoices, newest first. */
export async function listInvoices(
  ports: Pick<Ports, 'db'> & ViewPorts,
  account: AccountId,
  query: Query,
): Promise<Result<Page<Item>, FieldErrors>> {
  const parsed = listForm(query);
  if (!parsed.ok) return parsed;
  const { perPage, status, asset, external_id, created_from, created_to } = parsed.value;
  const page = pageOf(query);
  const filter = {
    status,
    asset,
    externalId: external_id,
    createdFrom: created_from,
    createdTo: created_to,
  };
  const { items, total } = await readPage(ports.db, account, filter, placeOf(page, perPage));
  return ok(
    pageView({
      data: items.map((invoice) => listItemView(invoice, ports)),
      total,
      page,
      perPage,
      path: `${ports.settings.publicUrl}/api/invoices`,
      query,
    }),
  );
}
