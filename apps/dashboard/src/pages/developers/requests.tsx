import { Anchor, Badge, Box, Stack, Text } from '@mantine/core';
import type { FailedRequest } from '@quittance/client';
import { quittance } from '../../client.ts';
import { ListPage } from '../../parts/list-page.tsx';
import { Note, Page, WithNote } from '../../parts/page.tsx';
import { useAllowed } from '../../parts/reading.ts';
import { type Column, timeColumn } from '../../parts/table.tsx';
import { Copyable } from '../../parts/values.tsx';

/** The requests of the account that were answered with an error: what a developer looks for when something does not work. */
export function RoutePage() {
  // What tokens are called, for those who may read them.
  const { data } = useAllowed('tokens:read', ['tokens', 'names'], (options) =>
    quittance.tokens.list({ perPage: 100 }, options),
  );
  return (
    <Page title="Failed requests">
      <Note>
        The last 1,000 of 30 days. Neither queries nor bodies are stored. Requests without a valid token, and
        those over the rate limit, are not among them.
      </Note>
      <ListPage<FailedRequest>
        name="requests"
        load={(query, options) => quittance.requests.list(query, options)}
        columns={columnsOf(new Map(data?.data.map(({ id, name }) => [id, name])))}
        empty={{ title: 'No request has failed', text: 'One that does comes here within seconds.' }}
      />
    </Page>
  );
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<FailedRequest>[] => [
  timeColumn('created_at', 'When'),
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
      <WithNote width={120} note={address}>
        {person ?? (token === null ? '—' : (names.get(token) ?? token))}
      </WithNote>
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
