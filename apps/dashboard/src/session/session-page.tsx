import { Box, Center, Paper, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** The page of somebody who has not signed in, with its title, which the window has too. */
export function SessionPage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Quittance`;
  }, [title]);
  return (
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
}
