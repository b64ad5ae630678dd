import { Anchor } from '@mantine/core';
import type { UnresolvedFunds } from '@quittance/client';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { Amount, assetName } from '../../parts/amount.tsx';
import { type Column, type Filter, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { TransactionHash } from '../../parts/transaction-hash.tsx';
import { reasonWords } from './reason.ts';

const statuses = ['open', 'accepted', 'returning', 'returned', 'reversed'];

const columns: readonly Column<UnresolvedFunds>[] = [
  {
    id: 'amount',
    title: 'Amount',
    align: 'right',
    render: ({ id, amount, asset }) => (
      <Anchor
        component={Link}
        to={`/unresolved/${id}`}
        size="sm"
        onClick={(event) => event.stopPropagation()}
      >
        <Amount value={amount} asset={asset.symbol} />
      </Anchor>
    ),
  },
  { id: 'status', title: 'Status', render: ({ status }) => <StateBadge state={status} /> },
  { id: 'reason', title: 'Why', render: ({ reason }) => reasonWords(reason) },
  {
    id: 'invoice_id',
    title: 'Invoice',
    render: ({ invoice_id: invoice }) =>
      invoice === null ? (
        '—'
      ) : (
        <Anchor
          component={Link}
          to={`/invoices/${invoice}`}
          size="sm"
          onClick={(event) => event.stopPropagation()}
        >
          Invoice
        </Anchor>
      ),
  },
  { id: 'created_at', title: 'Received', render: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'resolved_at',
    title: 'Decided',
    isHidden: true,
    render: ({ resolved_at }) => <Time at={resolved_at} />,
  },
  {
    id: 'tx_hash',
    title: 'Transaction',
    isHidden: true,
    render: ({ tx_hash }) => <TransactionHash hash={tx_hash} />,
  },
  { id: 'id', title: 'Id', isHidden: true, render: ({ id }) => id },
];

export function RoutePage() {
  const { data: assets = [] } = useAssets();
  const filters: readonly Filter[] = [
    { kind: 'text', name: 'tx_hash', label: 'Transaction', placeholder: 'The whole hash' },
    { kind: 'choice', name: 'status', label: 'Status', choices: statuses },
    {
      kind: 'choice',
      name: 'asset',
      label: 'Asset',
      choices: assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) })),
    },
  ];
  return (
    <Page title="Unresolved funds">
      <ListPage
        name="unresolved"
        load={(query, signal) => quittance.unresolved.list(query, { signal })}
        columns={columns}
        filters={filters}
        csv={(query, signal) => quittance.unresolved.csv(query, { signal })}
        to={({ id }) => `/unresolved/${id}`}
        empty={{
          title: 'No unresolved funds',
          text: 'Money that came too late, was too little or in another asset waits here for your decision.',
        }}
      />
    </Page>
  );
}
