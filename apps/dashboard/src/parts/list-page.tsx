import 'mantine-datatable/styles.css';
import { Button, Group, Menu, Paper, Select, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import '@mantine/dates/styles.css';
import { useDebouncedCallback, useLocalStorage } from '@mantine/hooks';
import { IconColumns3, IconSearch, IconX } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { DataTable, type DataTableColumn } from 'mantine-datatable';
import { type ReactNode, useState } from 'react';
import { REFRESH_MS } from '../queries.ts';
import { DownloadButton } from './download-button.tsx';
import { Failure } from './failure.tsx';
import { type ListSearch, useListSearch } from './list-search.ts';
import { Empty } from './page.tsx';

/** A column with a name to switch it on and off by. */
export type Column<T> = {
  id: string;
  title: string;
  render(row: T): ReactNode;
  /** Not shown until somebody switches it on. */
  isHidden?: true;
  align?: 'right';
};

export type Filter = { name: string; label: string } & (
  | { kind: 'text'; placeholder?: string }
  | { kind: 'choice'; choices: readonly (string | { value: string; label: string })[] }
  | { kind: 'day' }
);

type Listed<T> = { data: T[]; meta: { total: number; current_page: number; per_page: number } };

type Props<T> = {
  /** Names the list in what is kept and stored: `invoices`. */
  name: string;
  /** Reads a page. `query` has the filters and the page, as the API calls them. */
  load(query: Record<string, unknown>, signal: AbortSignal): Promise<Listed<T>>;
  columns: readonly Column<T>[];
  filters?: readonly Filter[];
  /** The same list as a file. */
  csv?(query: Record<string, unknown>, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Where a row leads. */
  to?(row: T): string;
  idOf?(row: T): string | number;
  empty: { title: string; text?: ReactNode };
};

const PER_PAGE = 25;

/** A list of the API with its filters, columns, pages and file. */
export function ListPage<T extends object>({
  name,
  load,
  columns,
  filters = [],
  csv,
  to,
  idOf,
  empty,
}: Props<T>) {
  const navigate = useNavigate();
  const [search, change] = useListSearch();
  const [hidden, setHidden] = useLocalStorage<string[]>({
    key: `columns-${name}`,
    defaultValue: columns.filter(({ isHidden }) => isHidden === true).map(({ id }) => id),
  });
  // eslint-disable-next-line no-restricted-syntax -- the number of a page
  const page = Number.parseInt(search['page'] ?? '1', 10) || 1;
  const given = Object.fromEntries(filters.map((filter) => [filter.name, search[filter.name]]));
  const isFiltered = Object.values(given).some((value) => value !== undefined);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [name, given, page],
    queryFn: ({ signal }) => load({ ...given, page, perPage: PER_PAGE }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const shown = columns.filter(({ id }) => !hidden.includes(id));
  return (
    <>
      <Group gap="xs" align="flex-end">
        {filters.map((filter) => (
          <FilterField key={filter.name} filter={filter} value={search[filter.name]} onChange={change} />
        ))}
        {isFiltered && (
          <Button
            variant="subtle"
            leftSection={<IconX size={16} />}
            onClick={() => change(Object.fromEntries(filters.map((filter) => [filter.name, undefined])))}
          >
            All
          </Button>
        )}
        <Group gap="xs" ml="auto">
          <ColumnMenu columns={columns} hidden={hidden} onChange={setHidden} />
          {csv !== undefined && <DownloadButton name={`${name}.csv`} load={(signal) => csv(given, signal)} />}
        </Group>
      </Group>
      {error !== null && <Failure error={error} onRetry={refetch} />}
      <Paper withBorder style={{ overflow: 'hidden' }}>
        <DataTable<T>
          records={data?.data ?? []}
          columns={shown.map(
            ({ id, title, render, align }): DataTableColumn<T> => ({
              accessor: id,
              title,
              render,
              ...(align === undefined ? {} : { textAlign: align }),
            }),
          )}
          idAccessor={idOf ?? 'id'}
          fetching={data === undefined && isFetching}
          // Who has no mouse moves a table that is wider than the window with the arrow keys.
          scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
          minHeight={data === undefined || data.data.length === 0 ? 220 : undefined}
          emptyState={
            data === undefined ? (
              <Empty title={error === null ? 'Loading' : 'The list could not be read'} />
            ) : page > 1 ? (
              <Empty title="The list has no such page">
                <Button variant="default" onClick={() => change({ page: undefined })}>
                  To its first page
                </Button>
              </Empty>
            ) : isFiltered ? (
              <Empty title="Nothing matches these filters" />
            ) : (
              <Empty title={empty.title}>{empty.text}</Empty>
            )
          }
          noRecordsText=""
          highlightOnHover={to !== undefined}
          {...(to === undefined ? {} : { onRowClick: ({ record }) => void navigate({ to: to(record) }) })}
          totalRecords={data?.meta.total ?? 0}
          recordsPerPage={PER_PAGE}
          page={page}
          onPageChange={(next) => change({ page: next === 1 ? undefined : String(next) })}
          paginationText={({ from, to: last, totalRecords }) => `${from} to ${last} of ${totalRecords}`}
          getPaginationControlProps={(control) => ({
            'aria-label': control === 'previous' ? 'The page before' : 'The next page',
          })}
        />
      </Paper>
    </>
  );
}

const TYPED_MS = 300;

type FieldProps = { filter: Filter; value: string | undefined; onChange(changes: ListSearch): void };

/** One filter of a list. */
export function FilterField({ filter, value, onChange }: FieldProps) {
  const { name, label } = filter;
  switch (filter.kind) {
    case 'choice':
      return (
        <Select
          label={label}
          data={[...filter.choices]}
          value={value ?? null}
          onChange={(chosen) => onChange({ [name]: chosen ?? undefined })}
          clearable
          w={170}
        />
      );
    case 'day':
      return (
        <DatePickerInput
          label={label}
          value={value ?? null}
          onChange={(day) => onChange({ [name]: day ?? undefined })}
          valueFormat="D MMM YYYY"
          clearable
          w={150}
        />
      );
    case 'text':
      return <TextFilter filter={filter} value={value} onChange={onChange} />;
  }
}

function TextFilter({ filter, value, onChange }: FieldProps) {
  const [typed, setTyped] = useState(value ?? '');
  const later = useDebouncedCallback((text: string) => onChange({ [filter.name]: text.trim() }), TYPED_MS);
  // Whatever else changes the address, such as the button for all.
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    if (value !== typed.trim()) setTyped(value ?? '');
  }
  return (
    <TextInput
      label={filter.label}
      placeholder={filter.kind === 'text' ? filter.placeholder : undefined}
      leftSection={<IconSearch size={16} />}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
      w={240}
    />
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
