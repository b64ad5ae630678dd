import { Anchor, Button, Text } from '@mantine/core';
import { type InvoiceListItem, NotFoundError } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { Amount, assetName, Fiat } from '../../parts/amount.tsx';
import { withMoments } from '../../parts/day-range.ts';
import { type Column, type Filter, ListPage } from '../../parts/list-page.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { invoiceSearch } from './invoice-search.ts';

const statuses = ['pending', 'partially_paid', 'confirmed', 'paid', 'expired'];

const columns: readonly Column<InvoiceListItem>[] = [
  {
    id: 'external_id',
    title: 'Invoice',
    // A link, for those who use the keyboard, or open it in another window.
    render: ({ id, external_id }) => (
      <Anchor component={Link} to={`/invoices/${id}`} size="sm" onClick={(event) => event.stopPropagation()}>
        {external_id ?? `${id.slice(0, 12)}…`}
      </Anchor>
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
        <Text size="sm" c="dimmed">
          the payer chooses
        </Text>
      ) : (
        <Amount value={amount} asset={asset.symbol} />
      ),
  },
  { id: 'created_at', title: 'Created', render: ({ created_at }) => <Time at={created_at} /> },
  { id: 'paid_at', title: 'Paid', render: ({ paid_at }) => <Time at={paid_at} /> },
  {
    id: 'expires_at',
    title: 'Expires',
    isHidden: true,
    render: ({ expires_at }) => (expires_at === null ? 'never' : <Time at={expires_at} />),
  },
  { id: 'id', title: 'Id', isHidden: true, render: ({ id }) => id },
];

type Query = Record<string, unknown>;

/** The filters as the API is asked, where the search is not for an id. */
function asked({ search, ...query }: Query): Query {
  const found = typeof search === 'string' ? invoiceSearch(search) : {};
  return withMoments({ ...query, ...found });
}

async function load(query: Query, signal: AbortSignal) {
  const { id, ...filters } = asked(query);
  if (typeof id !== 'string') return await quittance.invoices.list(filters, { signal });
  const data = await found(id, signal);
  return { data, meta: { total: data.length, current_page: 1, per_page: 1 } };
}

async function found(id: string, signal: AbortSignal): Promise<InvoiceListItem[]> {
  try {
    return [await quittance.invoices.retrieve(id, { signal })];
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
  const { data: assets = [] } = useAssets();
  const filters: Filter[] = [
    { kind: 'text', name: 'search', label: 'Search', placeholder: 'Your reference, an address, a hash' },
    {
      kind: 'choice',
      name: 'status',
      label: 'Status',
      choices: statuses.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
    },
    {
      kind: 'choice',
      name: 'asset',
      label: 'Asset',
      choices: assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) })),
    },
    { kind: 'day', name: 'created_from', label: 'Created from' },
    { kind: 'day', name: 'created_to', label: 'Created to' },
    ...(link === undefined
      ? []
      : [{ kind: 'text', name: 'payment_link_id', label: 'Payment link' } as const]),
  ];
  return (
    <Page
      title="Invoices"
      actions={
        mayCreate && (
          <Button component={Link} to="/invoices/new" leftSection={<IconPlus size={16} />}>
            New invoice
          </Button>
        )
      }
    >
      <ListPage
        name="invoices"
        load={load}
        columns={columns}
        filters={filters}
        csv={isId ? undefined : (query, signal) => quittance.invoices.csv(asked(query), { signal })}
        to={({ id }) => `/invoices/${id}`}
        empty={{
          title: 'No invoices yet',
          text: mayCreate ? (
            <>
              An invoice asks a customer for a payment.{' '}
              <Anchor component={Link} to="/invoices/new" inherit>
                Create the first one
              </Anchor>
              , or let your shop create them through the API.
            </>
          ) : (
            'An invoice asks a customer for a payment.'
          ),
        }}
      />
    </Page>
  );
}
