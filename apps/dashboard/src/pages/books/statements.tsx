import '@mantine/dates/styles.css';
import { Alert, Group, Paper, Select, Stack, Table } from '@mantine/core';
import { MonthPickerInput } from '@mantine/dates';
import type { Statement } from '@quittance/client';
import { IconPrinter } from '@tabler/icons-react';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { AssetSelect } from '../../parts/asset-select.tsx';
import { currencies } from '../../parts/currencies.ts';
import { grouped } from '../../parts/decimal.ts';
import { DownloadButton } from '../../parts/download-button.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { ButtonLink, Heading, Loaded, OpenLink, Page, PageLink, Small } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { ScrollTable } from '../../parts/table.tsx';
import { assetName, fiat, Time } from '../../parts/values.tsx';
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
  const statement = useRead(['balance-transactions', 'statement', query], (options) =>
    quittance.statements.retrieve(query, options),
  );
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
            <Heading>
              {assetName(asset)}, {monthName(month)}
            </Heading>
            <Group gap="xs">
              <ButtonLink
                to="/balance-transactions"
                search={{ asset, created_from: first, created_to: last }}
              >
                Its transactions
              </ButtonLink>
              <OpenLink
                href={`/api/statements?${new URLSearchParams({ ...query, format: 'html' } as Record<string, string>)}`}
                leftSection={<IconPrinter size={16} />}
              >
                To print
              </OpenLink>
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
      {[amount, fee, net].map((digits, place) => (
        <Table.Td key={place} ta="right">
          {grouped(digits)}
        </Table.Td>
      ))}
      <Table.Td ta="right">
        {fiat(value, currency)}
        {without > 0 && <Small>{without} without a value</Small>}
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
              {['Count', 'Amount', 'Network fee', 'Net', 'Value'].map((title) => (
                <Table.Th key={title} ta="right">
                  {title}
                </Table.Th>
              ))}
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
      <Small>
        Values are those of the rates when each movement was booked. A payout counts in the month in which it
        was requested.{' '}
        <PageLink to="/balances" inherit underline="always">
          Balances of now
        </PageLink>
      </Small>
    </>
  );
}
