import { type InvoiceListItem, NotFoundError } from '@quittance/client';
import { quittance } from '../../client.ts';
import { createdFilters, type Filter, useAssetFilter } from '../../parts/list-filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { AddLink, Note, Page, PageLink } from '../../parts/page.tsx';
import { type Column, hidden, textColumn, timeColumn } from '../../parts/table.tsx';
import { Amount, Fiat, StateBadge } from '../../parts/values.tsx';
import { useMay } from '../../session/session.ts';
import { invoiceSearch } from './invoice-search.ts';

const statuses = ['pending', 'partially_paid', 'confirmed', 'paid', 'expired'];

const columns: readonly Column<InvoiceListItem>[] = [
  {
    id: 'external_id',
    title: 'Invoice',
    // A link, for those who use the keyboard, or open it in another window.
    render: ({ id, external_id: reference }) => (
      <PageLink to={`/invoices/${id}`}>{reference ?? `${id.slice(0, 12)}…`}</PageLink>
    ),
  },
  {
    id: 'amount_fiat',
    title: 'Price',
    align: 'right',
    render: ({ amount_fiat, currency = 'USD' }) => <Fiat value={amount_fiat} currency={currency} />,
  },
  { id: 'status', title: 'Status', render: ({ status }) => <StateBadge state={status} /> },
  {
    id: 'amount',
    title: 'Due',
    align: 'right',
    render: ({ amount, asset }) =>
      amount === null || asset === null ? (
        <Note>the payer chooses</Note>
      ) : (
        <Amount value={amount} asset={asset.symbol} />
      ),
  },
  timeColumn('created_at', 'Created'),
  timeColumn('paid_at', 'Paid'),
  timeColumn('expires_at', 'Expires', { never: 'never', ...hidden }),
  textColumn('id', 'Id', hidden),
];

type Query = Record<string, unknown>;

/** The filters as the API is asked, where the search is not for an id. */
const asked = ({ search, ...query }: Query): Query => ({
  ...query,
  ...(typeof search === 'string' && invoiceSearch(search)),
});

async function load(query: Query, options: { signal: AbortSignal }) {
  const { id, ...filters } = asked(query);
  if (typeof id !== 'string') return await quittance.invoices.list(filters, options);
  const data = await found(id, options);
  return { data, meta: { total: data.length, current_page: 1, per_page: 1 } };
}

async function found(id: string, options: { signal: AbortSignal }): Promise<InvoiceListItem[]> {
  try {
    return [await quittance.invoices.retrieve(id, options)];
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

export function RoutePage() {
  const mayCreate = useMay('invoices:write');
  const [{ payment_link_id: link, search }] = useListSearch();
  // The file has no filter by id.
  const isId = search !== undefined && 'id' in invoiceSearch(search);
  const filters: Filter[] = [
    { kind: 'text', name: 'search', label: 'Search', placeholder: 'Your reference, an address, a hash' },
    {
      kind: 'choice',
      name: 'status',
      label: 'Status',
      choices: statuses.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
    },
    useAssetFilter(),
    ...createdFilters(),
  ];
  if (link !== undefined) filters.push({ kind: 'text', name: 'payment_link_id', label: 'Payment link' });
  return (
    <Page title="Invoices" actions={mayCreate && <AddLink to="/invoices/new">New invoice</AddLink>}>
      <ListPage<InvoiceListItem>
        name="invoices"
        load={load}
        columns={columns}
        filters={filters}
        csv={isId ? undefined : (query, options) => quittance.invoices.csv(asked(query), options)}
        to={({ id }) => `/invoices/${id}`}
        empty={{
          title: 'No invoices yet',
          text: mayCreate ? (
            <>
              An invoice asks a customer for a payment.{' '}
              <PageLink to="/invoices/new">Create the first one</PageLink>, or let your shop create them
              through the API.
            </>
          ) : (
            'An invoice asks a customer for a payment.'
          ),
        }}
      />
    </Page>
  );
}
