import { quittance } from '../../client.ts';
import { ListPage } from '../../parts/list-page.tsx';
import { AddLink, Page, PageLink } from '../../parts/page.tsx';
import { type Column, hidden, textColumn } from '../../parts/table.tsx';
import { Time } from '../../parts/values.tsx';
import { useMay } from '../../session/session.ts';
import { BatchTotals, modeNames } from './batch-totals.tsx';

type Batch = Awaited<ReturnType<typeof quittance.payoutBatches.list>>['data'][number];

const columns: readonly Column<Batch>[] = [
  {
    id: 'created_at',
    title: 'Created',
    render: ({ id, created_at: at }) => (
      <PageLink to={`/payout-batches/${id}`}>
        <Time at={at} />
      </PageLink>
    ),
  },
  { id: 'mode', title: 'Mode', render: ({ mode }) => modeNames[mode] },
  { id: 'lines', title: 'Lines', align: 'right', render: ({ totals }) => totals.lines },
  { id: 'totals', title: 'What became of them', render: ({ totals }) => <BatchTotals totals={totals} /> },
  textColumn('id', 'Id', hidden),
];

/** The batches of the account. */
export function RoutePage() {
  const mayPay = useMay('payouts:write');
  return (
    <Page title="Payout batches" actions={mayPay && <AddLink to="/payout-batches/new">New batch</AddLink>}>
      <ListPage<Batch>
        name="payout-batches"
        load={(query, options) => quittance.payoutBatches.list(query, options)}
        columns={columns}
        to={({ id }) => `/payout-batches/${id}`}
        empty={{ title: 'No batches yet', text: 'A batch makes up to 500 payouts of one CSV file.' }}
      />
    </Page>
  );
}
