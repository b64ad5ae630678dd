import { Alert, Stack, Text } from '@mantine/core';
import { NotFoundError, type OperatedCheck, type OperatedDiscrepancy } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Amount, assetName } from '../../parts/amount.tsx';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { ageOf } from './durations.ts';
import { ByCommand, Mark, Part, Rows, type TableColumn, useOperated } from './operator-parts.tsx';
import { Pauses } from './pauses.tsx';

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
    <Page title="Reconciliation">
      <Loaded query={query}>
        {({ checks, discrepancies, pauses, assets }) => (
          <Stack gap="xl">
            <Pauses pauses={pauses} assets={assets.map(({ asset }) => asset)} />
            <Part title="Last checks">
              <Facts
                facts={[
                  ['New and open rows', <Check key="recent" check={checks.recent} />],
                  ['Every row', <Check key="whole" check={checks.whole} />],
                ]}
              />
            </Part>
            <Part
              title="Discrepancies"
              text="Records that contradict each other, or the chain. What was seen twice pauses the payouts of its asset."
            >
              <Rows
                rows={discrepancies}
                columns={discrepancyColumns}
                keyOf={({ invariant, what }) => `${invariant} ${what}`}
                empty="The records agree with each other and with the chains"
              />
            </Part>
            <Part
              title="Reserves"
              text="What our addresses hold, what merchants are owed, and what is the operator’s own, at the last comparison with the chain."
            >
              <Rows rows={assets} columns={assetColumns} keyOf={({ asset }) => asset} empty="No assets" />
            </Part>
            <ByCommand
              commands={[
                [
                  'Resume payouts that the auditor or a command has paused, after every row is checked again:',
                  'payouts resume --asset ETH',
                ],
                ['Compare all records with each other and with the chains:', 'verify-books'],
                [
                  'Pause payouts so that no request through this gateway can resume them:',
                  'payouts pause --asset ETH --reason TEXT',
                ],
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
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
        <Text size="sm" c="red" key={chain}>
          {chain} was not compared: {why}
        </Text>
      ))}
    </Stack>
  );
}

const discrepancyColumns: readonly TableColumn<OperatedDiscrepancy>[] = [
  { title: 'Invariant', render: ({ invariant }) => invariant },
  {
    title: 'What is wrong',
    render: ({ what }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }} miw={240}>
        {what}
      </Text>
    ),
  },
  { title: 'Asset', render: ({ asset }) => (asset === null ? 'all' : assetName(asset)) },
  { title: 'Seen', align: 'right', render: ({ times }) => times },
  { title: 'First', render: ({ first_seen_at }) => <Time at={first_seen_at} /> },
  {
    title: 'State',
    render: ({ accepted_at, pauses_payouts }) => (
      <Mark
        good={accepted_at !== null}
        label={accepted_at !== null ? 'accepted' : pauses_payouts ? 'pauses payouts' : 'alarm'}
      />
    ),
  },
];

type AssetRow = Awaited<ReturnType<typeof quittance.operator.reconciliation>>['assets'][number];

const amountIn = (asset: string, value: string | null) =>
  value === null ? '—' : <Amount value={value} asset={asset} />;

const assetColumns: readonly TableColumn<AssetRow>[] = [
  { title: 'Asset', render: ({ asset }) => assetName(asset) },
  {
    title: 'Found right',
    render: ({ passed_at }) => (passed_at === null ? 'never' : `${ageOf(passed_at, new Date())} ago`),
  },
  { title: 'Reserves', align: 'right', render: ({ asset, reserves }) => amountIn(asset, reserves) },
  { title: 'Owed', align: 'right', render: ({ asset, liabilities }) => amountIn(asset, liabilities) },
  {
    title: 'Operator’s own',
    align: 'right',
    render: ({ asset, operator_funds }) => amountIn(asset, operator_funds),
  },
];
