import { Group, Text, Tooltip } from '@mantine/core';
import type { Refund } from '@quittance/client';
import { quittance } from '../../client.ts';
import { createdFilters, type Filter, useAssetFilter } from '../../parts/list-filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { Page, PageLink } from '../../parts/page.tsx';
import { amountColumn, type Column, hidden, textColumn, timeColumn } from '../../parts/table.tsx';
import { Fiat, StateBadge, Time } from '../../parts/values.tsx';
import { CancelRefund } from './cancel-refund.tsx';

const statuses = ['claimable', 'pending', 'completed', 'failed', 'expired', 'cancelled'];

const columns: readonly Column<Refund>[] = [
  {
    id: 'of',
    title: 'Of',
    render: ({ invoice_id: invoice, deposit_id: deposit }) =>
      invoice === null ? (
        <PageLink to={`/unresolved/${deposit}`}>Unresolved funds</PageLink>
      ) : (
        <PageLink to={`/invoices/${invoice}`}>Invoice</PageLink>
      ),
  },
  amountColumn('amount', 'Amount'),
  {
    id: 'amount_fiat',
    title: 'Worth',
    align: 'right',
    render: ({ amount_fiat: worth, currency }) =>
      worth === null || currency === null ? '—' : <Fiat value={worth} currency={currency} />,
  },
  {
    id: 'status',
    title: 'Status',
    render: ({ status, unfunded_since: unfunded }) => (
      <Group gap={4} wrap="nowrap">
        <StateBadge state={status} />
        {unfunded !== null && status === 'claimable' && (
          <Tooltip label="Your customer has used the link, and the balance did not cover it. Top it up, then ask to open the link again.">
            <Text size="xs" c="red" tabIndex={0}>
              not covered
            </Text>
          </Tooltip>
        )}
      </Group>
    ),
  },
  {
    id: 'payout',
    title: 'Payout',
    render: ({ payout_id: payout, expires_at: ends }) => {
      if (payout !== null) return <PageLink to={`/payouts/${payout}`}>{payout}</PageLink>;
      return ends === null ? (
        '—'
      ) : (
        <>
          link until <Time at={ends} />
        </>
      );
    },
  },
  textColumn('external_id', 'Your reference'),
  timeColumn('created_at', 'Created'),
  textColumn('id', 'Id', hidden),
  { id: 'cancel', title: 'Actions', render: (refund) => <CancelRefund refund={refund} /> },
];

export function RoutePage() {
  const filters: readonly Filter[] = [
    { kind: 'text', name: 'external_id', label: 'Your reference', placeholder: 'The whole reference' },
    { kind: 'choice', name: 'status', label: 'Status', choices: statuses },
    useAssetFilter(),
    ...createdFilters(),
  ];
  return (
    <Page title="Refunds">
      <ListPage<Refund>
        name="refunds"
        load={(query, options) => quittance.refunds.list(query, options)}
        columns={columns}
        filters={filters}
        empty={{
          title: 'No refunds yet',
          text: 'A refund pays back what a customer has paid. It begins on the page of the invoice.',
        }}
      />
    </Page>
  );
}
