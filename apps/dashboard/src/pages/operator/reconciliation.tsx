import { Alert, Stack } from '@mantine/core';
import { NotFoundError, type OperatedCheck, type OperatedDiscrepancy } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Facts, Note, Page } from '../../parts/page.tsx';
import { type Column, textColumn, timeColumn } from '../../parts/table.tsx';
import { Amount, assetName } from '../../parts/values.tsx';
import { ageOf } from './durations.ts';
import { Long, Mark, OperatorPage, Part, TablePart, useOperated } from './operator-parts.tsx';
import { Pauses } from './pauses.tsx';

const discrepancyColumns: readonly Column<OperatedDiscrepancy>[] = [
  textColumn('invariant', 'Invariant'),
  { id: 'what', title: 'What is wrong', render: ({ what }) => <Long text={what} width={240} /> },
  { id: 'asset', title: 'Asset', render: ({ asset }) => (asset === null ? 'all' : assetName(asset)) },
  textColumn('times', 'Seen', { align: 'right' }),
  timeColumn('first_seen_at', 'First'),
  {
    id: 'state',
    title: 'State',
    render: ({ accepted_at: at, pauses_payouts: pauses }) => (
      <Mark good={at !== null} label={at !== null ? 'accepted' : pauses ? 'pauses payouts' : 'alarm'} />
    ),
  },
];

type AssetRow = Awaited<ReturnType<typeof quittance.operator.reconciliation>>['assets'][number];

const amountOf = (id: 'reserves' | 'liabilities' | 'operator_funds', title: string): Column<AssetRow> => ({
  ...{ id, title, align: 'right' },
  render: ({ asset, [id]: value }) => (value === null ? '—' : <Amount value={value} asset={asset} />),
});

const assetColumns: readonly Column<AssetRow>[] = [
  { id: 'asset', title: 'Asset', render: ({ asset }) => assetName(asset) },
  {
    id: 'passed_at',
    title: 'Found right',
    render: ({ passed_at: at }) => (at === null ? 'never' : `${ageOf(at, new Date())} ago`),
  },
  amountOf('reserves', 'Reserves'),
  amountOf('liabilities', 'Owed'),
  amountOf('operator_funds', 'Operator’s own'),
];

const commands = {
  'Resume payouts that the auditor or a command has paused, after every row is checked again:':
    'payouts resume --asset ETH',
  'Compare all records with each other and with the chains:': 'verify-books',
  'Pause payouts so that no request through this gateway can resume them:':
    'payouts pause --asset ETH --reason TEXT',
};

/** What the auditor has found, and which payouts are paused. */
export function RoutePage() {
  const query = useOperated(
    'reconciliation',
    (options) => quittance.operator.reconciliation(options),
    ({ pauses }) => pauses.some(({ in_force }) => !in_force),
  );
  if (query.error instanceof NotFoundError)
    return (
      <Page title="Reconciliation">
        <Alert color="yellow">
          The gateway does not reach the auditor: set AUDITOR_URL for the gateway, and GATEWAY_PUBLIC_KEY for
          the auditor.
        </Alert>
      </Page>
    );
  return (
    <OperatorPage title="Reconciliation" query={query} commands={commands}>
      {({ checks, discrepancies, pauses, assets }) => (
        <>
          <Pauses pauses={pauses} assets={assets.map(({ asset }) => asset)} />
          <Part title="Last checks">
            <Facts
              facts={{
                'New and open rows': <Check check={checks.recent} />,
                'Every row': <Check check={checks.whole} />,
              }}
            />
          </Part>
          <TablePart
            title="Discrepancies"
            text="Records that contradict each other, or the chain. What was seen twice pauses the payouts of its asset."
            rows={discrepancies}
            columns={discrepancyColumns}
            keyOf={({ invariant, what }) => `${invariant} ${what}`}
            empty="The records agree with each other and with the chains"
          />
          <TablePart
            title="Reserves"
            text="What our addresses hold, what merchants are owed, and what is the operator’s own, at the last comparison with the chain."
            rows={assets}
            columns={assetColumns}
            keyOf={({ asset }) => asset}
            empty="No assets"
          />
        </>
      )}
    </OperatorPage>
  );
}

function Check({ check }: { check: OperatedCheck | null }) {
  if (check === null) return <>never</>;
  const unseen = Object.entries(check.chains).filter(([, why]) => why !== null);
  return (
    <Stack gap={4} align="flex-start">
      <span>
        <Mark good={check.right} label={check.right ? 'right' : 'wrong'} />{' '}
        {ageOf(check.ended_at, new Date())} ago
      </span>
      {unseen.map(([chain, why]) => (
        <Note c="red" key={chain}>
          {chain} was not compared: {why}
        </Note>
      ))}
    </Stack>
  );
}
