import { Group, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = { title: string; actions?: ReactNode; children: ReactNode };

/** A part of a page, with a heading of its own. */
export const Section = ({ title, actions, children }: Props) => (
  <Paper withBorder p="md" component="section" aria-label={title}>
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </Stack>
  </Paper>
);
