import { Alert, Anchor, Button, Group, Paper, Select, Stack, Table, Text, Title } from '@mantine/core';
import '@mantine/dates/styles.css';
import { MonthPickerInput } from '@mantine/dates';
import type { Statement } from '@quittance/client';
import { IconPrinter } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { assetName, fiat } from '../../parts/amount.tsx';
import { AssetSelect } from '../../parts/asset-select.tsx';
import { currencies } from '../../parts/currencies.ts';
import { grouped } from '../../parts/decimal.ts';
import { DownloadButton } from '../../parts/download-button.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { Loaded, Page } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { daysOf, monthOf } from './months.ts';
import { typeName } from './transaction-types.ts';

type Query = Parameters<typeof quittance.statements.retrieve>[0];

const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const monthName = (month: string): string => monthFormat.format(new Date(`${month}-01T00:00:00Z`));

/** A month of one asset, to the unit. */
export function RoutePage() {
  const [search, change] = useListSearch();
  const assets = useAssets();
  const asset = search['asset'] ?? assets.data?.[0]?.symbol;
  const month = search['month'] ?? monthOf(new Date());
  const currency = search['currency'] ?? 'USD';
  return (
    <Page title="Statements">
      <Group align="flex-end" gap="xs">
        <MonthPickerInput
          label="Month (UTC)"
          value={`${month}-01`}
          onChange={(day) => change({ month: day?.slice(0, 7) })}
          maxDate={`${monthOf(new Date())}-01`}
          w={180}
        />
        <AssetSelect
          value={asset ?? null}
          onChange={(symbol) => change({ asset: symbol ?? undefined })}
          w={180}
        />
        <Select
          label="Values in"
          data={currencies}
          value={currency}
          onChange={(code) => change({ currency: code ?? undefined })}
          allowDeselect={false}
          w={110}
        />
      </Group>
      {asset !== undefined && <OneStatement query={{ month, asset, currency } as Query} />}
    </Page>
  );
}

function OneStatement({ query }: { query: Query }) {
  const statement = useQuery({
    queryKey: ['balance-transactions', 'statement', query],
    queryFn: ({ signal }) => quittance.statements.retrieve(query, { signal }),
  });
  const asText = async (signal: AbortSignal) => {
    const text = await quittance.statements.text('csv', query, { signal });
    return new Blob([text]).stream();
  };
  const { month, asset } = query;
  const { first, last } = daysOf(month);
  return (
    <Loaded query={statement}>
      {(data) => (
        <Stack>
          <Group justify="space-between">
            <Title order={2} size="h4">
              {assetName(asset)}, {monthName(month)}
            </Title>
            <Group gap="xs">
              <Button
                component={Link}
                to="/balance-transactions"
                search={{ asset, created_from: first, created_to: last } as never}
                variant="default"
              >
                Its transactions
              </Button>
              <Button
                component="a"
                href={`/api/statements?${new URLSearchParams({ ...query, format: 'html' } as Record<string, string>)}`}
                target="_blank"
                rel="noreferrer"
                variant="default"
                leftSection={<IconPrinter size={16} />}
              >
                To print
              </Button>
              <DownloadButton name={`statement-${month}-${asset}.csv`} load={asText} />
            </Group>
          </Group>
          {!data.complete && (
            <Alert color="blue">
              The month is not over: the closing balance is that of <Time at={data.generated_at} />.
            </Alert>
          )}
          <StatementTable statement={data} />
        </Stack>
      )}
    </Loaded>
  );
}

function StatementTable({ statement }: { statement: Statement }) {
  const { entries, total, currency, opening_balance: opening, closing_balance: closing, asset } = statement;
  const cells = ({ count, amount, fee, net, value, without_value: without }: Statement['total']) => (
    <>
      <Table.Td ta="right">{count}</Table.Td>
      <Table.Td ta="right">{grouped(amount)}</Table.Td>
      <Table.Td ta="right">{grouped(fee)}</Table.Td>
      <Table.Td ta="right">{grouped(net)}</Table.Td>
      <Table.Td ta="right">
        {fiat(value, currency)}
        {without > 0 && (
          <Text size="xs" c="dimmed">
            {without} without a value
          </Text>
        )}
      </Table.Td>
    </>
  );
  const balanceRow = (name: string, balance: string) => (
    <Table.Tr fw={600}>
      <Table.Td colSpan={4}>{name}</Table.Td>
      <Table.Td ta="right">{grouped(balance)}</Table.Td>
      <Table.Td />
    </Table.Tr>
  );
  return (
    <>
      <Paper withBorder>
        <ScrollTable minWidth={640}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>In {assetName(asset.symbol)}</Table.Th>
              <Table.Th ta="right">Count</Table.Th>
              <Table.Th ta="right">Amount</Table.Th>
              <Table.Th ta="right">Network fee</Table.Th>
              <Table.Th ta="right">Net</Table.Th>
              <Table.Th ta="right">Value</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody style={{ fontVariantNumeric: 'tabular-nums' }}>
            {balanceRow('Opening balance', opening)}
            {entries.map((entry) => (
              <Table.Tr key={entry.type}>
                <Table.Td>{typeName(entry.type)}</Table.Td>
                {cells(entry)}
              </Table.Tr>
            ))}
            <Table.Tr>
              <Table.Td>All movements</Table.Td>
              {cells(total)}
            </Table.Tr>
            {balanceRow('Closing balance', closing)}
          </Table.Tbody>
        </ScrollTable>
      </Paper>
      <Text size="xs" c="dimmed">
        Values are those of the rates when each movement was booked. A payout counts in the month in which it
        was requested.{' '}
        <Anchor component={Link} to="/balances" inherit underline="always">
          Balances of now
        </Anchor>
      </Text>
    </>
  );
}
