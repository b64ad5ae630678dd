import 'mantine-datatable/styles.css';
import { Button, Menu, Paper } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconColumns3 } from '@tabler/icons-react';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { DataTable, type DataTableColumn, type DataTableProps } from 'mantine-datatable';
import type { ReactNode } from 'react';
import { withMoments } from './day-range.ts';
import { DownloadButton } from './download-button.tsx';
import { Failure } from './failure.tsx';
import { type Filter, Filters, useFilters } from './list-filters.tsx';
import { Empty } from './page.tsx';
import { useLive } from './reading.ts';
import type { Column } from './table.tsx';

type Options = { signal: AbortSignal };
type Query = Record<string, unknown>;
type Listed<T> = { data: T[]; meta: { total: number; current_page: number; per_page: number } };

type Props<T> = {
  /** Names the list in what is kept and stored: `invoices`. */
  name: string;
  /** Reads a page. `query` has the filters and the page, as the API calls them. */
  load(query: Query, options: Options): Promise<Listed<T>>;
  columns: readonly Column<T>[];
  filters?: readonly Filter[];
  /** The same list as a file. */
  csv?(query: Query, options: Options): Promise<ReadableStream<Uint8Array>>;
  /** Where a row leads. */
  to?(row: T): string;
  empty: { title: string; text?: ReactNode };
};

const PER_PAGE = 25;

/** A list of the API with its filters, columns, pages and file. */
export function ListPage<T extends { id: string | number }>(props: Props<T>) {
  const { name, load, columns, filters = [], csv, to, empty } = props;
  const navigate = useNavigate();
  const { search, change, given, isFiltered } = useFilters(filters);
  const [hidden, setHidden] = useLocalStorage<string[]>({
    key: `columns-${name}`,
    defaultValue: columns.filter(({ isHidden }) => isHidden === true).map(({ id }) => id),
  });
  // eslint-disable-next-line no-restricted-syntax -- the number of a page
  const page = Number.parseInt(search['page'] ?? '1', 10) || 1;
  const query = useLive(
    [name, given, page],
    (options) => load(withMoments({ ...given, page, perPage: PER_PAGE }), options),
    { placeholderData: keepPreviousData },
  );
  return (
    <>
      <Filters filters={filters}>
        <ColumnMenu columns={columns} hidden={hidden} onChange={setHidden} />
        {csv !== undefined && (
          <DownloadButton name={`${name}.csv`} load={(signal) => csv(withMoments(given), { signal })} />
        )}
      </Filters>
      <ListTable<T>
        query={query}
        columns={columns.filter(({ id }) => !hidden.includes(id))}
        isFiltered={isFiltered}
        empty={empty}
        beyond={page > 1 && { title: 'The list has no such page', label: 'To its first page' }}
        onBack={() => change({ page: undefined })}
        table={{
          ...(to && {
            highlightOnHover: true,
            onRowClick: ({ record }) => void navigate({ to: to(record) }),
          }),
          totalRecords: query.data?.meta.total ?? 0,
          recordsPerPage: PER_PAGE,
          page,
          onPageChange: (next) => change({ page: next === 1 ? undefined : String(next) }),
          paginationText: ({ from, to: last, totalRecords }) => `${from} to ${last} of ${totalRecords}`,
          getPaginationControlProps: (control) => ({
            'aria-label': control === 'previous' ? 'The page before' : 'The next page',
          }),
        }}
      />
    </>
  );
}

type TableProps<T> = {
  query: UseQueryResult<{ data: T[] }>;
  columns: readonly Column<T>[];
  isFiltered: boolean;
  empty: Props<T>['empty'];
  /** What is said, and how the button back is called, where somebody has gone on beyond the end of the list. */
  beyond: false | { title: string; label: string };
  onBack(): void;
  /** What else the table does, such as its pages. */
  table?: Partial<DataTableProps<T>>;
};

/** The rows of a list, or why there are none. */
export function ListTable<T extends { id: string | number }>(props: TableProps<T>) {
  const { query, columns, isFiltered, empty, beyond, onBack, table } = props;
  const { data, error, refetch } = query;
  const none = beyond ? (
    <Empty title={beyond.title}>
      <Button variant="default" onClick={onBack}>
        {beyond.label}
      </Button>
    </Empty>
  ) : isFiltered ? (
    <Empty title="Nothing matches these filters" />
  ) : (
    <Empty title={empty.title}>{empty.text}</Empty>
  );
  return (
    <>
      <Failure error={error} onRetry={refetch} />
      <Paper withBorder style={{ overflow: 'hidden' }}>
        <DataTable<T>
          {...({
            ...table,
            records: data?.data ?? [],
            columns: columns.map(
              ({ id, title, render, align }): DataTableColumn<T> => ({
                ...{ accessor: id, title, render },
                ...(align && { textAlign: align }),
              }),
            ),
            fetching: data === undefined && error === null,
            // Who has no mouse moves a table that is wider than the window with the arrow keys.
            scrollAreaProps: { viewportProps: { tabIndex: 0 } },
            minHeight: data === undefined || data.data.length === 0 ? 220 : undefined,
            emptyState:
              data === undefined ? (
                <Empty title={error === null ? 'Loading' : 'The list could not be read'} />
              ) : (
                none
              ),
            noRecordsText: '',
          } as DataTableProps<T>)}
        />
      </Paper>
    </>
  );
}

type ColumnMenuProps<T> = {
  columns: readonly Column<T>[];
  hidden: string[];
  onChange(hidden: string[]): void;
};

function ColumnMenu<T>({ columns, hidden, onChange }: ColumnMenuProps<T>) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconColumns3 size={16} />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.map(({ id, title }) => (
          <Menu.CheckboxItem
            key={id}
            checked={!hidden.includes(id)}
            onChange={(isShown) => onChange(isShown ? hidden.filter((one) => one !== id) : [...hidden, id])}
          >
            {title}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
