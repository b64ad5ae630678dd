import { Group, Pagination, Paper, Table, type TableProps, Text, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Empty } from './page.tsx';
import { Amount, Time } from './values.tsx';

/** A column of a table, or of a list, where its id names what somebody has switched off. */
export type Column<T> = {
  id: string;
  /** Empty where the buttons of a row are: screen readers are told so. */
  title: string;
  render(row: T): ReactNode;
  /** Not shown in a list until somebody switches it on. */
  isHidden?: true;
  align?: 'right';
};

type More = { isHidden?: true; align?: 'right' };
/** Of a column that is not shown until somebody switches it on. */
export const hidden: More = { isHidden: true };

/** A field as it is, `—` where it has no value. */
export const textColumn = <K extends string>(
  id: K,
  title: string,
  more?: More,
): Column<Record<K, ReactNode>> => ({
  ...{ id, title, ...more },
  render: ({ [id]: value }) => (value === null || value === undefined || value === '' ? '—' : value),
});

/** A time. @param never what is said where there is none */
export const timeColumn = <K extends string>(
  id: K,
  title: string,
  { never = '—', ...more }: More & { never?: string } = {},
): Column<Record<K, string | null>> => ({
  ...{ id, title, ...more },
  render: ({ [id]: at }) => (at === null ? never : <Time at={at} />),
});

/** An amount of the row's asset. */
export const amountColumn = <K extends string>(
  id: K,
  title: string,
  more?: More,
): Column<Record<K, string> & { asset: { symbol: string } | string }> => ({
  ...{ id, title, align: 'right', ...more },
  render: ({ [id]: value, asset }) => (
    <Amount value={value} asset={typeof asset === 'string' ? asset : asset.symbol} />
  ),
});

type ScrollProps = TableProps & {
  /** Below this it scrolls sideways. */
  minWidth: number;
};

/** A table that scrolls sideways on a phone: who has no mouse moves it with the arrow keys. */
export const ScrollTable = ({ minWidth, ...table }: ScrollProps) => (
  <Table.ScrollContainer minWidth={minWidth} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table verticalSpacing="xs" {...table} />
  </Table.ScrollContainer>
);

type RowsProps<T> = {
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf(row: T): string | number;
  /** What is said in place of a table without rows. */
  empty?: string;
  minWidth?: number;
  isHighlighted?: true;
};

/** A short table, all of whose rows are there. */
export function Rows<T>({ rows, columns, keyOf, empty, minWidth, isHighlighted }: RowsProps<T>) {
  if (rows.length === 0 && empty !== undefined) return <Empty title={empty} />;
  return (
    <ScrollTable
      minWidth={minWidth ?? 100 * columns.length}
      highlightOnHover={isHighlighted}
      style={{ fontVariantNumeric: 'tabular-nums' }}
    >
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ id, title, align }) => (
            <Table.Th key={id} ta={align}>
              {title === '' ? <VisuallyHidden>Actions</VisuallyHidden> : title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)}>
            {columns.map(({ id, align, render }) => (
              <Table.Td key={id} ta={align}>
                {render(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}

const PER_PAGE = 50;

/** The same with a border, in pages where there are many rows. */
export function PagedRows<T>({ rows, ...table }: RowsProps<T>) {
  const [page, setPage] = useState(1);
  const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
  const at = Math.min(page, pages);
  return (
    <Paper withBorder>
      <Rows rows={rows.slice((at - 1) * PER_PAGE, at * PER_PAGE)} {...table} />
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
