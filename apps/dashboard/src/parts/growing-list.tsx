import { Button, Drawer, Group, Paper } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Failure } from './failure.tsx';
import { type Filter, Filters } from './list-filters.tsx';
import { Empty } from './page.tsx';
import type { Part } from './reading.ts';
import { type Column, Rows } from './table.tsx';

type Props<T> = {
  query: UseInfiniteQueryResult<InfiniteData<Part<T>>>;
  columns: readonly Column<T>[];
  filters: readonly Filter[];
  minWidth: number;
  empty: { title: string; text: ReactNode };
  /** What the button of a row opens, for those who hear it. */
  nameOf(row: T): string;
  /** All of one row, in a drawer. */
  details: { title(row: T): string; render(row: T): ReactNode };
};

/** A list that grows downwards, the newest first, whose rows are opened in a drawer. */
export function GrowingList<T extends { id: string }>(props: Props<T>) {
  const { query, columns, filters, minWidth, empty, nameOf, details } = props;
  const [open, setOpen] = useState<T>();
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = data?.pages.flatMap((part) => part.rows) ?? [];
  const openColumn: Column<T> = {
    id: 'open',
    title: '',
    align: 'right',
    render: (row) => (
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => setOpen(row)}
        aria-label={`Open ${nameOf(row)}`}
      >
        Open
      </Button>
    ),
  };
  return (
    <>
      <Filters filters={filters} />
      <Failure error={error} onRetry={refetch} />
      <Paper withBorder>
        <Rows
          rows={rows}
          columns={[...columns, openColumn]}
          keyOf={({ id }) => id}
          minWidth={minWidth}
          isHighlighted
        />
        {isPending && error === null && <Empty title="Loading" />}
        {data !== undefined && rows.length === 0 && <Empty title={empty.title}>{empty.text}</Empty>}
      </Paper>
      {hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older ones
          </Button>
        </Group>
      )}
      <Drawer
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open && details.title(open)}
        position="right"
        size="lg"
      >
        {open && details.render(open)}
      </Drawer>
    </>
  );
}
