import { Anchor, Badge, Box, Stack, Text } from '@mantine/core';
import type { FailedRequest } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { type Column, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';

/** The requests of the account that were answered with an error: what a developer looks for when something does not work. */
export function RoutePage() {
  const names = useTokenNames();
  return (
    <Page title="Failed requests">
      <Text size="sm" c="dimmed">
        The last 1,000 of 30 days. Neither queries nor bodies are stored. Requests without a valid token, and
        those over the rate limit, are not among them.
      </Text>
      <ListPage<FailedRequest>
        name="requests"
        load={(query, signal) => quittance.requests.list(query, { signal })}
        columns={columnsOf(names)}
        empty={{ title: 'No request has failed', text: 'One that does comes here within seconds.' }}
      />
    </Page>
  );
}

/** What tokens are called, for those who may read them. */
function useTokenNames(): ReadonlyMap<string, string> {
  const mayRead = useMay('tokens:read');
  const { data } = useQuery({
    queryKey: ['tokens', 'names'],
    queryFn: ({ signal }) => quittance.tokens.list({ perPage: 100 }, { signal }),
    enabled: mayRead,
  });
  return new Map(data?.data.map(({ id, name }) => [id, name]));
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<FailedRequest>[] => [
  { id: 'created_at', title: 'When', render: ({ created_at: at }) => <Time at={at} /> },
  {
    id: 'request',
    title: 'Request',
    render: ({ method, path }) => (
      <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere', minWidth: 180 }}>
        {method} {path}
      </Text>
    ),
  },
  {
    id: 'status',
    title: 'Answer',
    render: ({ status, code }) => (
      <Stack gap={2} align="flex-start">
        <Badge variant="light" color={status >= 500 ? 'red' : 'yellow'} radius="sm" miw="max-content">
          {status}
        </Badge>
        {code !== null && (
          <Anchor
            size="xs"
            href={`/docs/errors#${encodeURIComponent(code)}`}
            target="_blank"
            rel="noreferrer"
          >
            {code}
          </Anchor>
        )}
      </Stack>
    ),
  },
  {
    id: 'by',
    title: 'By',
    render: ({ token_id: token, person_name: person, address }) => (
      <Stack gap={0} style={{ overflowWrap: 'anywhere', minWidth: 120 }}>
        <Text size="sm">{person ?? (token === null ? '—' : (names.get(token) ?? token))}</Text>
        <Text size="xs" c="dimmed">
          {address}
        </Text>
      </Stack>
    ),
  },
  {
    id: 'id',
    title: 'Request id',
    render: ({ id }) => (
      <Box miw={260}>
        <Copyable text={id} label="Copy the id" />
      </Box>
    ),
  },
];
