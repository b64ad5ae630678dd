import { Anchor, Button, Drawer, Paper, Select, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import type { EventType, QuittanceEvent } from '@quittance/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { Failure } from '../../parts/failure.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { OlderButton } from '../../parts/older-button.tsx';
import { Empty, Facts, Page } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { eventsBefore } from './event-pages.ts';
import { subjectOf } from './event-subject.ts';
import { eventMeanings, eventTypes } from './event-types.ts';

/** The event log of the account, newest first. New ones come by themselves. */
export function RoutePage() {
  const [{ event: kind }, change] = useListSearch();
  const [open, setOpen] = useState<QuittanceEvent>();
  const query = useInfiniteQuery({
    queryKey: ['events', kind],
    queryFn: ({ pageParam, signal }) =>
      eventsBefore<QuittanceEvent>(
        (part) => quittance.events.list({ ...part, ...kindsOf(kind) }, { signal }),
        pageParam,
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ before }) => before,
    // All pages that are loaded would be read again.
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 1 ? false : REFRESH_MS),
  });
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <Page title="Events">
      <Text size="sm" c="dimmed">
        What happened to invoices, payouts and refunds, as endpoints receive it. Events are kept for 90 days.
      </Text>
      <Select
        label="Event"
        placeholder="All"
        data={eventTypes}
        value={kind ?? null}
        onChange={(chosen) => change({ event: chosen ?? undefined })}
        clearable
        searchable
        w={260}
      />
      {query.error !== null && <Failure error={query.error} onRetry={query.refetch} />}
      <Paper withBorder>
        <ScrollTable minWidth={520} highlightOnHover verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>No.</Table.Th>
              <Table.Th>Event</Table.Th>
              <Table.Th>Of</Table.Th>
              <Table.Th>Happened</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {events.map((event) => (
              <EventRow key={event.id} event={event} onOpen={() => setOpen(event)} />
            ))}
          </Table.Tbody>
        </ScrollTable>
        {query.isPending && query.error === null && <Empty title="Loading" />}
        {query.data !== undefined && events.length === 0 && (
          <Empty title={kind === undefined ? 'Nothing has happened yet' : 'No event of this type'}>
            {query.hasNextPage
              ? 'Older ones have not been looked through.'
              : 'New ones come here by themselves.'}
          </Empty>
        )}
      </Paper>
      <OlderButton query={query} />
      <Drawer
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open?.event}
        position="right"
        size="lg"
      >
        {open !== undefined && <EventDetails event={open} />}
      </Drawer>
    </Page>
  );
}

const kindsOf = (kind: string | undefined) => (kind === undefined ? {} : { kinds: [kind as EventType] });

function EventRow({ event, onOpen }: { event: QuittanceEvent; onOpen(): void }) {
  return (
    <Table.Tr>
      <Table.Td style={{ fontVariantNumeric: 'tabular-nums' }}>{event.sequence}</Table.Td>
      <Table.Td>
        <Text size="sm">{event.event}</Text>
        <Text size="xs" c="dimmed">
          {eventMeanings[event.event]}
        </Text>
      </Table.Td>
      <Table.Td>
        <Subject event={event} />
      </Table.Td>
      <Table.Td>
        <Time at={event.created_at} />
      </Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-sm"
          variant="default"
          onClick={onOpen}
          aria-label={`Open no. ${event.sequence}, ${event.event}`}
        >
          Open
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

function Subject({ event }: { event: QuittanceEvent }) {
  const subject = subjectOf(event);
  if (subject === undefined) return '—';
  const short = <span title={subject.id}>{`${subject.id.slice(0, 12)}…`}</span>;
  return subject.to === undefined ? (
    short
  ) : (
    <Anchor component={Link} to={subject.to} size="sm">
      {short}
    </Anchor>
  );
}

function EventDetails({ event }: { event: QuittanceEvent }) {
  return (
    <Stack>
      <Text size="sm">{eventMeanings[event.event]}</Text>
      <Facts
        facts={[
          ['No.', event.sequence],
          ['Happened', <Time key="at" at={event.created_at} />],
          ['Id', <Copyable key="id" text={event.id} label="Copy the id" />],
        ]}
      />
      <JsonView value={event} label="Copy the payload" />
    </Stack>
  );
}
