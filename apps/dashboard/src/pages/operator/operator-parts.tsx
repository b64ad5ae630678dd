import {
  ActionIcon,
  Badge,
  Code,
  CopyButton,
  Group,
  Paper,
  Stack,
  Table,
  Text,
  Title,
  Tooltip,
} from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Copyable } from '../../parts/copyable.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { Empty } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { shortened } from '../../parts/shortened.ts';
import { REFRESH_MS } from '../../queries.ts';

const SOON_MS = 2_000;

/** What operators look at, read again from time to time. @param isOnItsWay what is shown is about to change: it is read again soon */
export const useOperated = <T,>(
  name: string,
  load: (options: { signal: AbortSignal }) => Promise<T>,
  isOnItsWay: (data: T) => boolean = () => false,
) =>
  useQuery({
    queryKey: ['operator', name],
    queryFn: ({ signal }) => load({ signal }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOnItsWay(data) ? SOON_MS : REFRESH_MS),
  });

export type TableColumn<T> = { title: string; render(row: T): ReactNode; align?: 'right' };

type RowsProps<T> = {
  rows: readonly T[];
  columns: readonly TableColumn<T>[];
  keyOf(row: T): string;
  empty: string;
};

/** A short table, which scrolls sideways on a phone. */
export function Rows<T>({ rows, columns, keyOf, empty }: RowsProps<T>) {
  if (rows.length === 0)
    return (
      <Paper withBorder>
        <Empty title={empty} />
      </Paper>
    );
  return (
    <Paper withBorder>
      <ScrollTable minWidth={100 * columns.length}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, align }) => (
              <Table.Th key={title} ta={align}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map(({ title, align, render }) => (
                <Table.Td key={title} ta={align}>
                  {render(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Paper>
  );
}

/** A part of a page with its own heading. */
export const Part = ({
  title,
  text,
  actions,
  children,
}: {
  title: string;
  text?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) => (
  <Stack gap="xs" component="section">
    <Group justify="space-between">
      <Title order={2} size="h4">
        {title}
      </Title>
      {actions}
    </Group>
    {text !== undefined && (
      <Text size="sm" c="dimmed" component="div">
        {text}
      </Text>
    )}
    {children}
  </Stack>
);

/** Right or wrong in a word, with a colour for those who see it. */
export const Mark = ({ good, label }: { good: boolean; label: string }) => (
  <Badge variant="light" color={good ? 'green' : 'red'} radius="sm" tt="none" miw="max-content">
    {label}
  </Badge>
);

/** What only the command line does, with the command to type. */
export const ByCommand = ({ commands }: { commands: readonly (readonly [string, string])[] }) => (
  <Part
    title="Only with the command line"
    text="What could move money, or hide that it is missing, cannot be done here: the gateway is reached by everybody."
  >
    <Paper withBorder p="md">
      <Stack gap="sm">
        {commands.map(([what, command]) => (
          <div key={command}>
            <Text size="sm">{what}</Text>
            <Copyable text={`npx quittance ${command}`} label="Copy the command" />
          </div>
        ))}
      </Stack>
    </Paper>
  </Part>
);

/** A long id or hash by its ends, to take elsewhere. */
export const Shortened = ({ text, label }: { text: string; label: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Group gap={4} wrap="nowrap">
        <Code style={{ whiteSpace: 'nowrap' }}>{shortened(text)}</Code>
        <Tooltip label={copied ? 'Copied' : text} events={{ hover: true, focus: true, touch: true }}>
          <ActionIcon variant="subtle" color={copied ? 'green' : 'gray'} onClick={copy} aria-label={label}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      </Group>
    )}
  </CopyButton>
);

/** What is wrong with a form beside its fields, which say it themselves. */
export const FormFailure = ({ error }: { error: Error | null }) =>
  error === null || Object.keys(errorsOf(error)).length > 0 ? null : <Failure error={error} />;
