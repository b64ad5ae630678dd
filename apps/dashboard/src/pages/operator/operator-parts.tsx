import { Badge, Group, Paper, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Heading, Loaded, Note, Page } from '../../parts/page.tsx';
import { useLive } from '../../parts/reading.ts';
import { Rows } from '../../parts/table.tsx';
import { Copyable } from '../../parts/values.tsx';
import { REFRESH_MS } from '../../queries.ts';

const SOON_MS = 2_000;

/** What operators look at, read again from time to time. @param isOnItsWay what is shown is about to change: it is read again soon */
export const useOperated = <T,>(
  name: string,
  load: (options: { signal: AbortSignal }) => Promise<T>,
  isOnItsWay: (data: T) => boolean = () => false,
) =>
  useLive(['operator', name], load, {
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOnItsWay(data) ? SOON_MS : REFRESH_MS),
  });

type PageProps<T> = {
  title: string;
  query: UseQueryResult<T>;
  /** What only the command line does: what it is for, and the command. */
  commands: Readonly<Record<string, string>>;
  children(data: T): ReactNode;
};

/** A page of the console: what was read, then what only the command line does. */
export const OperatorPage = <T,>({ title, query, commands, children }: PageProps<T>) => (
  <Page title={title}>
    <Loaded query={query}>
      {(data) => (
        <Stack gap="xl">
          {children(data)}
          <ByCommand commands={commands} />
        </Stack>
      )}
    </Loaded>
  </Page>
);

type PartProps = { title: string; text?: ReactNode; actions?: ReactNode; children: ReactNode };

/** A part of a page with its own heading. */
export const Part = ({ title, text, actions, children }: PartProps) => (
  <Stack gap="xs" component="section">
    <Group justify="space-between">
      <Heading>{title}</Heading>
      {actions}
    </Group>
    {text !== undefined && <Note>{text}</Note>}
    {children}
  </Stack>
);

/** A part of a page that is a table. */
export const TablePart = <T,>({
  title,
  text,
  ...table
}: Omit<PartProps, 'children'> & Parameters<typeof Rows<T>>[0]) => (
  <Part title={title} text={text}>
    <Paper withBorder>
      <Rows {...table} />
    </Paper>
  </Part>
);

/** Right or wrong in a word, with a colour for those who see it. */
export const Mark = ({ good, label }: { good: boolean; label: string }) => (
  <Badge variant="light" color={good ? 'green' : 'red'} radius="sm" tt="none" miw="max-content">
    {label}
  </Badge>
);

/** A text of any length in a cell of a table. */
export const Long = ({ text, width = 160, lines }: { text: string; width?: number; lines?: number }) => (
  <Text size="sm" style={{ overflowWrap: 'anywhere' }} miw={width} lineClamp={lines}>
    {text}
  </Text>
);

/** What only the command line does, with the command to type. */
export const ByCommand = ({ commands }: Pick<PageProps<never>, 'commands'>) => (
  <Part
    title="Only with the command line"
    text="What could move money, or hide that it is missing, cannot be done here: the gateway is reached by everybody."
  >
    <Paper withBorder p="md">
      <Stack gap="sm">
        {Object.entries(commands).map(([what, command]) => (
          <div key={command}>
            <Text size="sm">{what}</Text>
            <Copyable text={`npx quittance ${command}`} label="Copy the command" />
          </div>
        ))}
      </Stack>
    </Paper>
  </Part>
);
