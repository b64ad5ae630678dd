import { Anchor, Button, Text } from '@mantine/core';
import type { Payout } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { ShortAddress } from '../../parts/address.tsx';
import { Amount, assetName, fiat } from '../../parts/amount.tsx';
import { withMoments } from '../../parts/day-range.ts';
import { type Column, type Filter, ListPage } from '../../parts/list-page.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { approvalProgress, stateOf } from './approval.ts';
import { DecideButtons, DecideDialog, type Decided } from './decide-payout.tsx';

type ListQuery = Parameters<typeof quittance.payouts.list>[0];

const columnsOf = (onDecide: (decided: Decided) => void): readonly Column<Payout>[] => [
  {
    id: 'created_at',
    title: 'Requested',
    render: ({ id, created_at: at }) => (
      <Anchor component={Link} to={`/payouts/${id}`} inherit onClick={(event) => event.stopPropagation()}>
        <Time at={at} />
      </Anchor>
    ),
  },
  { id: 'status', title: 'Status', render: (payout) => <StateBadge {...stateOf(payout)} /> },
  {
    id: 'approval',
    title: 'Approval',
    render: (payout) =>
      payout.approval === null ? (
        '—'
      ) : payout.approval.status === 'waiting' ? (
        <>
          <Text size="sm" mb={4}>
            {approvalProgress(payout)}
          </Text>
          <DecideButtons payout={payout} onDecide={onDecide} size="compact-sm" />
        </>
      ) : (
        payout.approval.status
      ),
  },
  {
    id: 'amount',
    title: 'Amount',
    align: 'right',
    render: ({ amount, asset }) => <Amount value={amount} asset={asset.symbol} />,
  },
  {
    id: 'network_fee',
    title: 'Network fee',
    align: 'right',
    isHidden: true,
    render: ({ network_fee: fee, asset }) => <Amount value={fee} asset={asset.symbol} />,
  },
  {
    id: 'total',
    title: 'Total',
    align: 'right',
    isHidden: true,
    render: ({ total, asset }) => <Amount value={total} asset={asset.symbol} />,
  },
  {
    id: 'usd_value',
    title: 'US dollars',
    align: 'right',
    isHidden: true,
    render: ({ usd_value: usd }) => (usd === null ? '—' : fiat(usd, 'USD')),
  },
  { id: 'to_address', title: 'To', render: ({ to_address: to }) => <ShortAddress address={to} /> },
  { id: 'external_id', title: 'Your reference', render: ({ external_id: id }) => id ?? '—' },
  { id: 'kind', title: 'Kind', render: kindOf },
  {
    id: 'failed_reason',
    title: 'Why it failed',
    isHidden: true,
    render: ({ failed_reason: reason }) => reason || '—',
  },
];

const kindOf = ({ refund_id: refund, deposit_id: deposit, batch_id: batch, automatic }: Payout): string =>
  refund !== null
    ? 'refund'
    : deposit !== null
      ? 'returned funds'
      : automatic
        ? 'automatic'
        : batch !== null
          ? 'batch'
          : 'payout';

function useFilters(): Filter[] {
  const { data: assets = [] } = useAssets();
  const [{ batch_id: batch }] = useListSearch();
  return [
    { name: 'status', label: 'Status', kind: 'choice', choices: ['pending', 'mined', 'failed'] },
    {
      name: 'approval',
      label: 'Approval',
      kind: 'choice',
      choices: [{ value: 'waiting', label: 'waits for one' }],
    },
    {
      name: 'asset',
      label: 'Asset',
      kind: 'choice',
      choices: assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) })),
    },
    { name: 'created_from', label: 'From', kind: 'day' },
    { name: 'created_to', label: 'To', kind: 'day' },
    { name: 'external_id', label: 'Your reference', kind: 'text' },
    { name: 'to_address', label: 'Address', kind: 'text' },
    // From the page of a batch.
    ...(batch === undefined ? [] : [{ name: 'batch_id', label: 'Batch', kind: 'text' } as const]),
  ];
}

/** The payouts of the account. */
export function RoutePage() {
  const [decided, setDecided] = useState<Decided>();
  const mayPay = useMay('payouts:write');
  return (
    <Page
      title="Payouts"
      actions={
        mayPay && (
          <Button component={Link} to="/payouts/new" leftSection={<IconPlus size={16} />}>
            New payout
          </Button>
        )
      }
    >
      <ListPage
        name="payouts"
        load={(query, signal) => quittance.payouts.list(withMoments(query) as ListQuery, { signal })}
        csv={(query, signal) => quittance.payouts.csv(withMoments(query), { signal })}
        columns={columnsOf(setDecided)}
        filters={useFilters()}
        to={({ id }) => `/payouts/${id}`}
        empty={{
          title: 'No payouts yet',
          text: 'A payout sends money from the balance to an address. Refunds are payouts too.',
        }}
      />
      <DecideDialog decided={decided} onClose={() => setDecided(undefined)} />
    </Page>
  );
}
