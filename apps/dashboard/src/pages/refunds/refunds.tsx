import { Anchor, Group, Text, Tooltip } from '@mantine/core';
import type { Refund } from '@quittance/client';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { Amount, assetName, Fiat } from '../../parts/amount.tsx';
import { withMoments } from '../../parts/day-range.ts';
import { type Column, type Filter, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { CancelRefund } from './cancel-refund.tsx';

const statuses = ['claimable', 'pending', 'completed', 'failed', 'expired', 'cancelled'];

const columns: readonly Column<Refund>[] = [
  {
    id: 'of',
    title: 'Of',
    render: ({ invoice_id: invoice, deposit_id: deposit }) =>
      invoice === null ? (
        <Anchor component={Link} to={`/unresolved/${deposit}`} size="sm">
          Unresolved funds
        </Anchor>
      ) : (
        <Anchor component={Link} to={`/invoices/${invoice}`} size="sm">
          Invoice
        </Anchor>
      ),
  },
  {
    id: 'amount',
    title: 'Amount',
    align: 'right',
    render: ({ amount, asset }) => <Amount value={amount} asset={asset.symbol} />,
  },
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
    render: ({ payout_id: payout, expires_at: ends }) =>
      payout !== null ? (
        <Anchor component={Link} to={`/payouts/${payout}`} size="sm">
          {payout}
        </Anchor>
      ) : ends === null ? (
        '—'
      ) : (
        <>
          link until <Time at={ends} />
        </>
      ),
  },
  { id: 'external_id', title: 'Your reference', render: ({ external_id }) => external_id ?? '—' },
  { id: 'created_at', title: 'Created', render: ({ created_at }) => <Time at={created_at} /> },
  { id: 'id', title: 'Id', isHidden: true, render: ({ id }) => id },
  { id: 'cancel', title: 'Actions', render: (refund) => <CancelRefund refund={refund} /> },
];

export function RoutePage() {
  const { data: assets = [] } = useAssets();
  const filters: readonly Filter[] = [
    { kind: 'text', name: 'external_id', label: 'Your reference', placeholder: 'The whole reference' },
    { kind: 'choice', name: 'status', label: 'Status', choices: statuses },
    {
      kind: 'choice',
      name: 'asset',
      label: 'Asset',
      choices: assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) })),
    },
    { kind: 'day', name: 'created_from', label: 'Created from' },
    { kind: 'day', name: 'created_to', label: 'Created to' },
  ];
  return (
    <Page title="Refunds">
      <ListPage
        name="refunds"
        load={(query, signal) => quittance.refunds.list(withMoments(query), { signal })}
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
