import { Anchor, Button, Group, Paper, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useBalances } from '../../parts/account-data.ts';
import { assetName, fiat } from '../../parts/amount.tsx';
import { compare, grouped, sum } from '../../parts/decimal.ts';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { useMay } from '../../session/session.ts';

/** What can be spent of each asset. */
export function RoutePage() {
  const query = useBalances();
  return (
    <Page title="Balances">
      <Loaded query={query}>
        {(balances) =>
          balances.length === 0 ? (
            <Empty title="No assets">The operator has activated none.</Empty>
          ) : (
            <Balances balances={balances} />
          )
        }
      </Loaded>
    </Page>
  );
}

type Props = { balances: NonNullable<ReturnType<typeof useBalances>['data']> };

function Balances({ balances }: Props) {
  const mayPay = useMay('payouts:write');
  return (
    <>
      <Paper withBorder p="md">
        <Text size="sm" c="dimmed">
          All balances, at the rates of now
        </Text>
        <Text size="xl" fw={700} style={{ fontVariantNumeric: 'tabular-nums' }}>
          {fiat(sum(balances.map(({ usd_value: usd }) => usd)), 'USD')}
        </Text>
      </Paper>
      <Paper withBorder>
        <ScrollTable minWidth={640} verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Asset</Table.Th>
              <Table.Th ta="right">Balance</Table.Th>
              <Table.Th ta="right">In US dollars</Table.Th>
              <Table.Th ta="right">Held for pending payouts</Table.Th>
              <Table.Th ta="right">Network fee of a payout</Table.Th>
              <Table.Th>Actions</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody style={{ fontVariantNumeric: 'tabular-nums' }}>
            {balances.map(({ asset, balance, held, usd_value: usd }) => (
              <Table.Tr key={asset.symbol}>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>{assetName(asset.symbol)}</Table.Td>
                <Table.Td ta="right" fw={600}>
                  {grouped(balance)}
                </Table.Td>
                <Table.Td ta="right">{fiat(usd, 'USD')}</Table.Td>
                <Table.Td ta="right">{compare(held, '0') === 0 ? '—' : grouped(held)}</Table.Td>
                <Table.Td ta="right">{grouped(asset.network_fee)}</Table.Td>
                <Table.Td>
                  <Group gap="xs" justify="flex-end" wrap="nowrap">
                    <Anchor
                      component={Link}
                      to="/balance-transactions"
                      search={{ asset: asset.symbol } as never}
                      size="sm"
                    >
                      Transactions
                    </Anchor>
                    {mayPay && compare(balance, '0') > 0 && (
                      <Button
                        component={Link}
                        to="/payouts/new"
                        search={{ asset: asset.symbol } as never}
                        size="compact-sm"
                        variant="default"
                      >
                        Pay out
                      </Button>
                    )}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      </Paper>
    </>
  );
}
