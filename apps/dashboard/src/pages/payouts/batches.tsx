import { Anchor, Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { type Column, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { BatchTotals, modeNames } from './batch-totals.tsx';

type Batch = Awaited<ReturnType<typeof quittance.payoutBatches.list>>['data'][number];

const columns: readonly Column<Batch>[] = [
  {
    id: 'created_at',
    title: 'Created',
    render: ({ id, created_at: at }) => (
      <Anchor
        component={Link}
        to={`/payout-batches/${id}`}
        inherit
        onClick={(event) => event.stopPropagation()}
      >
        <Time at={at} />
      </Anchor>
    ),
  },
  { id: 'mode', title: 'Mode', render: ({ mode }) => modeNames[mode] },
  { id: 'lines', title: 'Lines', align: 'right', render: ({ totals }) => totals.lines },
  { id: 'totals', title: 'What became of them', render: ({ totals }) => <BatchTotals totals={totals} /> },
  { id: 'id', title: 'Id', isHidden: true, render: ({ id }) => id },
];

/** The batches of the account. */
export function RoutePage() {
  const mayPay = useMay('payouts:write');
  return (
    <Page
      title="Payout batches"
      actions={
        mayPay && (
          <Button component={Link} to="/payout-batches/new" leftSection={<IconPlus size={16} />}>
            New batch
          </Button>
        )
      }
    >
      <ListPage
        name="payout-batches"
        load={(query, signal) => quittance.payoutBatches.list(query, { signal })}
        columns={columns}
        to={({ id }) => `/payout-batches/${id}`}
        empty={{ title: 'No batches yet', text: 'A batch makes up to 500 payouts of one CSV file.' }}
      />
    </Page>
  );
}
