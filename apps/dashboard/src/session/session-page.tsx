import { Box, Center, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** The page of somebody who has not signed in. */
export const SessionPage = ({ title, children }: { title: string; children: ReactNode }) => (
  <Center component="main" mih="100vh" p="md">
    <Box w="100%" maw={400}>
      <Paper withBorder p="xl" shadow="sm">
        <Stack>
          <Title order={1} size="h2">
            {title}
          </Title>
          {children}
        </Stack>
      </Paper>
    </Box>
  </Center>
);
