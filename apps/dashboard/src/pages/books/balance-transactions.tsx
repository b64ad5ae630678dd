import 'mantine-datatable/styles.css';
import { Anchor, Button, Group, Paper, Text } from '@mantine/core';
import type { BalanceTransaction } from '@quittance/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DataTable, type DataTableColumn } from 'mantine-datatable';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { assetName, fiat } from '../../parts/amount.tsx';
import { currencies } from '../../parts/currencies.ts';
import { withMoments } from '../../parts/day-range.ts';
import { grouped } from '../../parts/decimal.ts';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { type Filter, FilterField } from '../../parts/list-page.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { Empty, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { transactionTypes, typeName } from './transaction-types.ts';

type Query = NonNullable<Parameters<typeof quittance.balanceTransactions.list>[0]>;
const PER_PAGE = 25;

function useFilters(): Filter[] {
  const { data: assets = [] } = useAssets();
  return [
    {
      name: 'asset',
      label: 'Asset',
      kind: 'choice',
      choices: assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) })),
    },
    {
      name: 'type',
      label: 'Type',
      kind: 'choice',
      choices: Object.entries(transactionTypes).map(([value, label]) => ({ value, label })),
    },
    { name: 'created_from', label: 'From (UTC)', kind: 'day' },
    { name: 'created_to', label: 'To (UTC)', kind: 'day' },
    { name: 'source', label: 'Source', kind: 'text', placeholder: 'id of an invoice or payout' },
    { name: 'currency', label: 'Values in', kind: 'choice', choices: currencies },
  ];
}

const minus = (text: string) => (text.startsWith('-') ? text.replace('-', '−') : text);
const signed = (value: string) => (value.startsWith('-') ? minus(grouped(value)) : `+${grouped(value)}`);

const Digits = ({ text, isStrong = false }: { text: string; isStrong?: boolean }) => (
  <Text
    inherit
    component="span"
    fw={isStrong ? 600 : undefined}
    style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}
  >
    {text}
  </Text>
);

function Source({ source }: Pick<BalanceTransaction, 'source'>) {
  const places = { invoice: '/invoices', payout: '/payouts', deposit: '/unresolved' } as const;
  const names = { invoice: 'Invoice', payout: 'Payout', deposit: 'Deposit' } as const;
  return (
    <Anchor component={Link} to={`${places[source.type]}/${source.id}`} size="sm" title={String(source.id)}>
      {names[source.type]} …{String(source.id).slice(-6)}
    </Anchor>
  );
}

const columns: DataTableColumn<BalanceTransaction>[] = [
  { accessor: 'created_at', title: 'Booked', render: ({ created_at: at }) => <Time at={at} /> },
  { accessor: 'type', title: 'Type', noWrap: true, render: ({ type }) => typeName(type) },
  { accessor: 'asset', title: 'Asset', noWrap: true, render: ({ asset }) => assetName(asset.symbol) },
  {
    accessor: 'net',
    title: 'Change',
    textAlign: 'right',
    render: ({ net }) => <Digits text={signed(net)} />,
  },
  {
    accessor: 'fee',
    title: 'Of it fee',
    textAlign: 'right',
    render: ({ fee }) => (fee === '0' ? '—' : <Digits text={minus(grouped(fee))} />),
  },
  {
    accessor: 'balance_after',
    title: 'Balance after',
    textAlign: 'right',
    render: ({ balance_after: after }) => <Digits text={grouped(after)} isStrong />,
  },
  {
    accessor: 'source',
    title: 'Source',
    noWrap: true,
    render: ({ source, payout_id: payout }) => (
      <Group gap="xs" wrap="nowrap">
        <Source source={source} />
        {payout !== null && source.type !== 'payout' && <Source source={{ type: 'payout', id: payout }} />}
      </Group>
    ),
  },
  {
    accessor: 'value',
    title: 'Value',
    textAlign: 'right',
    noWrap: true,
    render: ({ value, currency }) => (value === null ? 'not known' : fiat(value, currency)),
  },
];

/** Every movement of what can be spent, newest first, with the balance after it. */
export function RoutePage() {
  const filters = useFilters();
  const [search, change] = useListSearch();
  const given = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const { starting_after: after, ending_before: before } = search;
  const cursor =
    after !== undefined ? { starting_after: after } : before !== undefined ? { ending_before: before } : {};
  const { data, error, refetch } = useQuery({
    queryKey: ['balance-transactions', given, cursor],
    queryFn: ({ signal }) =>
      quittance.balanceTransactions.list(
        { ...withMoments(given, 'UTC'), ...cursor, limit: PER_PAGE } as Query,
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const noCursor = { starting_after: undefined, ending_before: undefined };
  const filter = (changes: Parameters<typeof change>[0]) => change({ ...changes, ...noCursor });
  const isFiltered = Object.values(given).some((value) => value !== undefined);
  return (
    <Page title="Balance transactions">
      <Group gap="xs" align="flex-end">
        {filters.map((one) => (
          <FilterField key={one.name} filter={one} value={search[one.name]} onChange={filter} />
        ))}
        {isFiltered && (
          <Button
            variant="subtle"
            onClick={() => filter(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
          >
            All
          </Button>
        )}
        <Group gap="xs" ml="auto">
          <DownloadButton
            name="balance-transactions.csv"
            load={(signal) => quittance.balanceTransactions.csv(withMoments(given, 'UTC'), { signal })}
          />
        </Group>
      </Group>
      {error !== null && <Failure error={error} onRetry={refetch} />}
      <Paper withBorder style={{ overflow: 'hidden' }}>
        <DataTable<BalanceTransaction>
          records={data?.data ?? []}
          columns={columns}
          fetching={data === undefined && error === null}
          minHeight={data === undefined || data.data.length === 0 ? 220 : undefined}
          emptyState={
            data === undefined ? (
              <Empty title={error === null ? 'Loading' : 'The transactions could not be read'} />
            ) : after !== undefined || before !== undefined ? (
              <Empty title={`Nothing ${after === undefined ? 'newer' : 'older'} matches`}>
                <Button variant="default" onClick={() => change(noCursor)}>
                  To the newest
                </Button>
              </Empty>
            ) : isFiltered ? (
              <Empty title="Nothing matches" />
            ) : (
              <Empty title="No transactions yet">The first payment of an invoice is the first one.</Empty>
            )
          }
          noRecordsText=""
          scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
        />
      </Paper>
      <Cursors
        first={data?.data.at(0)?.id}
        last={data?.data.at(-1)?.id}
        hasNewer={before !== undefined ? data?.has_more === true : after !== undefined}
        hasOlder={before !== undefined || data?.has_more === true}
        onChange={(place) => change({ ...noCursor, ...place })}
      />
    </Page>
  );
}

type CursorsProps = {
  first: string | undefined;
  last: string | undefined;
  hasNewer: boolean;
  hasOlder: boolean;
  onChange(place: { starting_after?: string; ending_before?: string }): void;
};

const Cursors = ({ first, last, hasNewer, hasOlder, onChange }: CursorsProps) => (
  <Group justify="flex-end" gap="xs">
    {hasNewer && (
      <Button variant="subtle" onClick={() => onChange({})}>
        Newest
      </Button>
    )}
    <Button
      variant="default"
      disabled={!hasNewer || first === undefined}
      onClick={() => first !== undefined && onChange({ ending_before: first })}
    >
      Newer
    </Button>
    <Button
      variant="default"
      disabled={!hasOlder || last === undefined}
      onClick={() => last !== undefined && onChange({ starting_after: last })}
    >
      Older
    </Button>
  </Group>
);
