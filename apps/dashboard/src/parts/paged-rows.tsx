import { Group, Pagination, Paper, Table, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ScrollTable } from './scroll-table.tsx';

const PER_PAGE = 50;

type Props<T> = { rows: readonly T[]; head: ReactNode; row(one: T): ReactNode };

/** A table whose rows are all there already, in pages. */
export function PagedRows<T>({ rows, head, row }: Props<T>) {
  const [page, setPage] = useState(1);
  const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
  const at = Math.min(page, pages);
  return (
    <Paper withBorder>
      <ScrollTable minWidth={300} verticalSpacing="xs">
        <Table.Thead>{head}</Table.Thead>
        <Table.Tbody>{rows.slice((at - 1) * PER_PAGE, at * PER_PAGE).map(row)}</Table.Tbody>
      </ScrollTable>
      {pages > 1 && (
        <Group p="xs" justify="space-between">
          <Text size="sm" c="dimmed">
            {rows.length} lines
          </Text>
          <Pagination total={pages} value={at} onChange={setPage} size="sm" />
        </Group>
      )}
    </Paper>
  );
}
