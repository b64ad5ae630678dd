import { Button, Group, Text } from '@mantine/core';
import type { BalanceTransaction } from '@quittance/client';
import { keepPreviousData } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { currencies } from '../../parts/currencies.ts';
import { withMoments } from '../../parts/day-range.ts';
import { grouped } from '../../parts/decimal.ts';
import { DownloadButton } from '../../parts/download-button.tsx';
import {
  createdFilters,
  type Filter,
  Filters,
  useAssetFilter,
  useFilters,
} from '../../parts/list-filters.tsx';
import { ListTable } from '../../parts/list-page.tsx';
import { Page, PageLink } from '../../parts/page.tsx';
import { useLive } from '../../parts/reading.ts';
import { type Column, timeColumn } from '../../parts/table.tsx';
import { assetName, fiat } from '../../parts/values.tsx';
import { transactionTypes, typeName } from './transaction-types.ts';

type Query = NonNullable<Parameters<typeof quittance.balanceTransactions.list>[0]>;
const PER_PAGE = 25;

const minus = (text: string) => text.replace(/^-/, '−');
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

const places = {
  invoice: ['Invoice', '/invoices'],
  payout: ['Payout', '/payouts'],
  deposit: ['Deposit', '/unresolved'],
} as const;

function Source({ source: { type, id } }: Pick<BalanceTransaction, 'source'>) {
  const [name, place] = places[type];
  return (
    <PageLink to={`${place}/${id}`} title={String(id)}>
      {name} …{String(id).slice(-6)}
    </PageLink>
  );
}

const columns: readonly Column<BalanceTransaction>[] = [
  timeColumn('created_at', 'Booked'),
  { id: 'type', title: 'Type', render: ({ type }) => <Digits text={typeName(type)} /> },
  { id: 'asset', title: 'Asset', render: ({ asset }) => <Digits text={assetName(asset.symbol)} /> },
  { id: 'net', title: 'Change', align: 'right', render: ({ net }) => <Digits text={signed(net)} /> },
  {
    id: 'fee',
    title: 'Fee in it',
    align: 'right',
    render: ({ fee }) => (fee === '0' ? '—' : <Digits text={minus(grouped(fee))} />),
  },
  {
    id: 'balance_after',
    title: 'Balance after',
    align: 'right',
    render: ({ balance_after: after }) => <Digits text={grouped(after)} isStrong />,
  },
  {
    id: 'source',
    title: 'Source',
    render: ({ source, payout_id: payout }) => (
      <Group gap="xs" wrap="nowrap" style={{ whiteSpace: 'nowrap' }}>
        <Source source={source} />
        {payout !== null && source.type !== 'payout' && <Source source={{ type: 'payout', id: payout }} />}
      </Group>
    ),
  },
  {
    id: 'value',
    title: 'Value',
    align: 'right',
    render: ({ value, currency }) => <Digits text={value === null ? 'not known' : fiat(value, currency)} />,
  },
];

const noCursor = { starting_after: undefined, ending_before: undefined };

/** Every movement of what can be spent, newest first, with the balance after it. */
export function RoutePage() {
  const filters: Filter[] = [
    useAssetFilter(),
    {
      kind: 'choice',
      name: 'type',
      label: 'Type',
      choices: Object.entries(transactionTypes).map(([value, label]) => ({ value, label })),
    },
    ...createdFilters('From (UTC)', 'To (UTC)'),
    { kind: 'text', name: 'source', label: 'Source', placeholder: 'id of an invoice or payout' },
    { kind: 'choice', name: 'currency', label: 'Values in', choices: currencies },
  ];
  const { search, change, given, isFiltered } = useFilters(filters);
  const { starting_after: after, ending_before: before } = search;
  const cursor = after !== undefined ? { starting_after: after } : before && { ending_before: before };
  const asked = withMoments(given, 'UTC');
  const query = useLive(
    ['balance-transactions', given, cursor],
    (options) =>
      quittance.balanceTransactions.list({ ...asked, ...cursor, limit: PER_PAGE } as Query, options),
    { placeholderData: keepPreviousData },
  );
  const rows = query.data?.data ?? [];
  const hasMore = query.data?.has_more === true;
  return (
    <Page title="Balance transactions">
      <Filters filters={filters} reset={noCursor}>
        <DownloadButton
          name="balance-transactions.csv"
          load={(signal) => quittance.balanceTransactions.csv(asked, { signal })}
        />
      </Filters>
      <ListTable<BalanceTransaction>
        query={query}
        columns={columns}
        isFiltered={isFiltered}
        empty={{ title: 'No transactions yet', text: 'The first payment of an invoice is the first one.' }}
        beyond={
          cursor !== undefined && {
            title: `Nothing ${after === undefined ? 'newer' : 'older'} matches`,
            label: 'To the newest',
          }
        }
        onBack={() => change(noCursor)}
      />
      <Cursors
        first={rows.at(0)?.id}
        last={rows.at(-1)?.id}
        hasNewer={before !== undefined ? hasMore : after !== undefined}
        hasOlder={before !== undefined || hasMore}
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
      onClick={() => onChange({ ending_before: first })}
    >
      Newer
    </Button>
    <Button
      variant="default"
      disabled={!hasOlder || last === undefined}
      onClick={() => onChange({ starting_after: last })}
    >
      Older
    </Button>
  </Group>
);
