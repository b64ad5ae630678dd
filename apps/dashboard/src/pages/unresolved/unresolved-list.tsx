import type { UnresolvedFunds } from '@quittance/client';
import { quittance } from '../../client.ts';
import { type Filter, useAssetFilter } from '../../parts/list-filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { Page, PageLink } from '../../parts/page.tsx';
import { type Column, hidden, textColumn, timeColumn } from '../../parts/table.tsx';
import { Amount, StateBadge, TransactionHash } from '../../parts/values.tsx';
import { reasonWords } from './reason.ts';

const statuses = ['open', 'accepted', 'returning', 'returned', 'reversed'];

const columns: readonly Column<UnresolvedFunds>[] = [
  {
    id: 'amount',
    title: 'Amount',
    align: 'right',
    render: ({ id, amount, asset }) => (
      <PageLink to={`/unresolved/${id}`}>
        <Amount value={amount} asset={asset.symbol} />
      </PageLink>
    ),
  },
  { id: 'status', title: 'Status', render: ({ status }) => <StateBadge state={status} /> },
  { id: 'reason', title: 'Why', render: ({ reason }) => reasonWords(reason) },
  {
    id: 'invoice_id',
    title: 'Invoice',
    render: ({ invoice_id: invoice }) =>
      invoice === null ? '—' : <PageLink to={`/invoices/${invoice}`}>Invoice</PageLink>,
  },
  timeColumn('created_at', 'Received'),
  timeColumn('resolved_at', 'Decided', hidden),
  {
    ...{ id: 'tx_hash', title: 'Transaction', ...hidden },
    render: ({ tx_hash: hash }) => <TransactionHash hash={hash} />,
  },
  textColumn('id', 'Id', hidden),
];

export function RoutePage() {
  const filters: readonly Filter[] = [
    { kind: 'text', name: 'tx_hash', label: 'Transaction', placeholder: 'The whole hash' },
    { kind: 'choice', name: 'status', label: 'Status', choices: statuses },
    useAssetFilter(),
  ];
  return (
    <Page title="Unresolved funds">
      <ListPage<UnresolvedFunds>
        name="unresolved"
        load={(query, options) => quittance.unresolved.list(query, options)}
        columns={columns}
        filters={filters}
        csv={(query, options) => quittance.unresolved.csv(query, options)}
        to={({ id }) => `/unresolved/${id}`}
        empty={{
          title: 'No unresolved funds',
          text: 'Money that came too late, was too little or in another asset waits here for your decision.',
        }}
      />
    </Page>
  );
}
