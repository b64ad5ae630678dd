import { Anchor, Box, Center, Group, Loader, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { Failure } from './failure.tsx';

type Props = {
  title: string;
  /** Where the page belongs: a link above its title. */
  back?: { to: string; label: string };
  /** Beside the title. */
  mark?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** A page with its title, which the window has too. */
export function Page({ title, back, mark, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Quittance`;
  }, [title]);
  return (
    <Stack gap="md" maw={1280}>
      <Box>
        {back !== undefined && (
          <Anchor component={Link} to={back.to} size="sm">
            ← {back.label}
          </Anchor>
        )}
        <Group justify="space-between" gap="sm">
          <Group gap="sm">
            <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            {mark}
          </Group>
          <Group gap="xs">{actions}</Group>
        </Group>
      </Box>
      {children}
    </Stack>
  );
}

/** What one query answers: a spinner until it is there, the failure with a button when it is not. */
export function Loaded<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data !== undefined)
    return (
      <>
        {error !== null && <Failure error={error} onRetry={refetch} />}
        {children(data)}
      </>
    );
  if (error !== null) return <Failure error={error} onRetry={refetch} />;
  return (
    <Center p="xl">
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}

/** Where there is nothing yet: what it would be, and how the first one comes. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <Center p="xl">
    <Stack gap="xs" align="center" maw={420}>
      <Text fw={600} c="var(--mantine-color-text)">
        {title}
      </Text>
      <Text size="sm" c="dimmed" ta="center" component="div">
        {children}
      </Text>
    </Stack>
  </Center>
);

/** A resource as pairs of a name and a value. Those without a value are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) => (
  <Box
    component="dl"
    m={0}
    style={{ display: 'grid', gridTemplateColumns: 'fit-content(34%) minmax(0, 1fr)', gap: '0.4rem 1rem' }}
  >
    {facts.map(([name, value]) =>
      value === null || value === undefined || value === '' ? null : (
        <Box key={name} style={{ display: 'contents' }}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text
            component="dd"
            size="sm"
            m={0}
            style={{ overflowWrap: 'anywhere', '--amount-wraps': 'normal' }}
          >
            {value}
          </Text>
        </Box>
      ),
    )}
  </Box>
);
