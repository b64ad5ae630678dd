import type { Payout } from '@quittance/client';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { createdFilters, type Filter, useAssetFilter } from '../../parts/list-filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { AddLink, Page, PageLink } from '../../parts/page.tsx';
import { amountColumn, type Column, hidden, textColumn } from '../../parts/table.tsx';
import { fiat, ShortAddress, StateBadge, Time } from '../../parts/values.tsx';
import { useMay } from '../../session/session.ts';
import { approvalProgress, stateOf } from './approval.ts';
import { DecideButtons, DecideDialog, type Decided } from './decide-payout.tsx';

type ListQuery = Parameters<typeof quittance.payouts.list>[0];

const columnsOf = (onDecide: (decided: Decided) => void): readonly Column<Payout>[] => [
  {
    id: 'created_at',
    title: 'Requested',
    render: ({ id, created_at: at }) => (
      <PageLink to={`/payouts/${id}`}>
        <Time at={at} />
      </PageLink>
    ),
  },
  { id: 'status', title: 'Status', render: (payout) => <StateBadge {...stateOf(payout)} /> },
  {
    id: 'approval',
    title: 'Approval',
    render: (payout) =>
      payout.approval?.status === 'waiting' ? (
        <>
          {approvalProgress(payout)}
          <DecideButtons payout={payout} onDecide={onDecide} size="compact-sm" />
        </>
      ) : (
        (payout.approval?.status ?? '—')
      ),
  },
  amountColumn('amount', 'Amount'),
  amountColumn('network_fee', 'Network fee', hidden),
  amountColumn('total', 'Total', hidden),
  {
    ...{ id: 'usd_value', title: 'US dollars', align: 'right', ...hidden },
    render: ({ usd_value: usd }) => (usd === null ? '—' : fiat(usd, 'USD')),
  },
  { id: 'to_address', title: 'To', render: ({ to_address: to }) => <ShortAddress address={to} /> },
  textColumn('external_id', 'Your reference'),
  { id: 'kind', title: 'Kind', render: kindOf },
  textColumn('failed_reason', 'Why it failed', hidden),
];

function kindOf({ refund_id: refund, deposit_id: deposit, batch_id: batch, automatic }: Payout): string {
  if (refund !== null) return 'refund';
  if (deposit !== null) return 'returned funds';
  if (automatic) return 'automatic';
  return batch === null ? 'payout' : 'batch';
}

/** The payouts of the account. */
export function RoutePage() {
  const [decided, setDecided] = useState<Decided>();
  const mayPay = useMay('payouts:write');
  const [{ batch_id: batch }] = useListSearch();
  const filters: Filter[] = [
    { kind: 'choice', name: 'status', label: 'Status', choices: ['pending', 'mined', 'failed'] },
    {
      kind: 'choice',
      name: 'approval',
      label: 'Approval',
      choices: [{ value: 'waiting', label: 'waits for one' }],
    },
    useAssetFilter(),
    ...createdFilters('From', 'To'),
    { kind: 'text', name: 'external_id', label: 'Your reference' },
    { kind: 'text', name: 'to_address', label: 'Address' },
  ];
  // From the page of a batch.
  if (batch !== undefined) filters.push({ kind: 'text', name: 'batch_id', label: 'Batch' });
  return (
    <Page title="Payouts" actions={mayPay && <AddLink to="/payouts/new">New payout</AddLink>}>
      <ListPage<Payout>
        name="payouts"
        load={(query, options) => quittance.payouts.list(query as ListQuery, options)}
        csv={(query, options) => quittance.payouts.csv(query, options)}
        columns={columnsOf(setDecided)}
        filters={filters}
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
