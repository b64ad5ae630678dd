import {
  Anchor,
  type AnchorProps,
  Box,
  Button,
  type ButtonProps,
  Center,
  Group,
  Loader,
  Paper,
  Stack,
  Text,
  type TextProps,
  Title,
} from '@mantine/core';
import { IconExternalLink, IconPlus } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
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

type LoadedProps<T> = { query: UseQueryResult<T>; children(data: T): ReactNode };

/** What one query answers: a spinner until it is there, the failure with a button when it is not. */
export function Loaded<T>({ query: { data, error, refetch }, children }: LoadedProps<T>) {
  return (
    <>
      <Failure error={error} onRetry={refetch} />
      {data !== undefined && children(data)}
      {data === undefined && error === null && (
        <Center p="xl">
          <Loader role="status" aria-label="Loading" />
        </Center>
      )}
    </>
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

/** A resource as names with their values. Those without a value are left out. */
export const Facts = ({ facts }: { facts: Readonly<Record<string, ReactNode>> }) => (
  <Box
    component="dl"
    m={0}
    style={{ display: 'grid', gridTemplateColumns: 'fit-content(34%) minmax(0, 1fr)', gap: '0.4rem 1rem' }}
  >
    {Object.entries(facts).map(([name, value]) =>
      value === null || value === undefined || value === false || value === '' ? null : (
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

type SectionProps = Pick<Props, 'title' | 'mark' | 'actions' | 'children'>;

/** A part of a page, with a heading of its own. */
export const Section = ({ title, mark, actions, children }: SectionProps) => (
  <Paper withBorder p="md" component="section" aria-label={title}>
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Heading>{title}</Heading>
          {mark}
        </Group>
        {actions}
      </Group>
      {children}
    </Stack>
  </Paper>
);

type Shown = TextProps & { children: ReactNode };

/** What explains, in a paler colour. */
export const Note = (props: Shown) => <Text size="sm" c="dimmed" component="div" {...props} />;

/** The same in small letters: what is less important than what stands before it. */
export const Small = (props: Shown) => <Text size="xs" c="dimmed" component="div" {...props} />;

/** The heading of a part of a page. */
export const Heading = ({ children }: { children: ReactNode }) => (
  <Title order={2} size="h4">
    {children}
  </Title>
);

type WithNoteProps = { children: ReactNode; note: ReactNode; width?: number };

/** A value, and under it what is less important. @param width at least so many pixels, in which long words are broken */
export const WithNote = ({ children, note, width }: WithNoteProps) => (
  <Stack
    gap={0}
    align="flex-start"
    miw={width}
    style={width === undefined ? {} : { overflowWrap: 'anywhere' }}
  >
    <Text size="sm" component="div">
      {children}
    </Text>
    {note && <Small>{note}</Small>}
  </Stack>
);

type Target = { to: string; search?: Record<string, string>; children: ReactNode };

/** A link to a page of the dashboard. In a row of a list that leads somewhere else, the link counts. */
export const PageLink = ({ search, ...props }: AnchorProps & Target & { title?: string }) => (
  <Anchor
    component={Link}
    size="sm"
    search={search as never}
    onClick={(event) => event.stopPropagation()}
    {...props}
  />
);

/** The same as a button. */
export const ButtonLink = ({ search, ...props }: ButtonProps & Target) => (
  <Button component={Link} variant="default" search={search as never} {...props} />
);

/** Leads to where something new is made. */
export const AddLink = (props: ButtonProps & Target) => (
  <ButtonLink variant="filled" leftSection={<IconPlus size={16} />} {...props} />
);

/** Opens a page that is none of the dashboard. */
export const OpenLink = (props: ButtonProps & { href: string; children: ReactNode }) => (
  <Button
    component="a"
    target="_blank"
    rel="noreferrer"
    variant="default"
    leftSection={<IconExternalLink size={16} />}
    {...props}
  />
);

/** The id in the address of a page of one resource. */
export function usePageId(): string {
  const { id } = useParams({ strict: false }) as { id?: string };
  if (id === undefined) throw new Error('the address of this page has an id');
  return id;
}
