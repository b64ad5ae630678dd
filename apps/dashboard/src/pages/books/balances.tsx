import { Group, Paper, Text } from '@mantine/core';
import type { Balance } from '@quittance/client';
import { useBalances } from '../../parts/account-data.ts';
import { compare, grouped, sum } from '../../parts/decimal.ts';
import { ButtonLink, Empty, Loaded, Note, Page, PageLink } from '../../parts/page.tsx';
import { type Column, Rows } from '../../parts/table.tsx';
import { assetName, fiat } from '../../parts/values.tsx';
import { useMay } from '../../session/session.ts';

const columnsOf = (mayPay: boolean): readonly Column<Balance>[] => [
  { id: 'asset', title: 'Asset', render: ({ asset }) => assetName(asset.symbol) },
  { id: 'balance', title: 'Balance', align: 'right', render: ({ balance }) => <b>{grouped(balance)}</b> },
  { id: 'usd', title: 'In US dollars', align: 'right', render: ({ usd_value: usd }) => fiat(usd, 'USD') },
  {
    id: 'held',
    title: 'Held for pending payouts',
    align: 'right',
    render: ({ held }) => (compare(held, '0') === 0 ? '—' : grouped(held)),
  },
  {
    id: 'network_fee',
    title: 'Network fee of a payout',
    align: 'right',
    render: ({ asset }) => grouped(asset.network_fee),
  },
  {
    id: 'actions',
    title: 'Actions',
    render: ({ asset: { symbol }, balance }) => (
      <Group gap="xs" justify="flex-end" wrap="nowrap">
        <PageLink to="/balance-transactions" search={{ asset: symbol }}>
          Transactions
        </PageLink>
        {mayPay && compare(balance, '0') > 0 && (
          <ButtonLink to="/payouts/new" search={{ asset: symbol }} size="compact-sm">
            Pay out
          </ButtonLink>
        )}
      </Group>
    ),
  },
];

/** What can be spent of each asset. */
export function RoutePage() {
  const query = useBalances();
  const mayPay = useMay('payouts:write');
  return (
    <Page title="Balances">
      <Loaded query={query}>
        {(balances) =>
          balances.length === 0 ? (
            <Empty title="No assets">The operator has activated none.</Empty>
          ) : (
            <>
              <Paper withBorder p="md">
                <Note>All balances, at the rates of now</Note>
                <Text size="xl" fw={700} style={{ fontVariantNumeric: 'tabular-nums' }}>
                  {fiat(sum(balances.map(({ usd_value: usd }) => usd)), 'USD')}
                </Text>
              </Paper>
              <Paper withBorder>
                <Rows
                  rows={balances}
                  columns={columnsOf(mayPay)}
                  keyOf={({ asset }) => asset.symbol}
                  minWidth={640}
                />
              </Paper>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
