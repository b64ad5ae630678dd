import { Stack, Text } from '@mantine/core';
import type { EventType, QuittanceEvent } from '@quittance/client';
import { quittance } from '../../client.ts';
import { GrowingList } from '../../parts/growing-list.tsx';
import type { Filter } from '../../parts/list-filters.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { Facts, Note, Page, PageLink, WithNote } from '../../parts/page.tsx';
import { useParts } from '../../parts/reading.ts';
import { type Column, textColumn, timeColumn } from '../../parts/table.tsx';
import { Copyable, JsonView, Time } from '../../parts/values.tsx';
import { eventsBefore } from './event-pages.ts';
import { subjectOf } from './event-subject.ts';
import { eventMeanings, eventTypes } from './event-types.ts';

const filters: readonly Filter[] = [
  { kind: 'choice', name: 'event', label: 'Event', choices: eventTypes, isLong: true },
];

const columns: readonly Column<QuittanceEvent>[] = [
  textColumn('sequence', 'No.'),
  {
    id: 'event',
    title: 'Event',
    render: ({ event }) => <WithNote note={eventMeanings[event]}>{event}</WithNote>,
  },
  { id: 'of', title: 'Of', render: (event) => <Subject event={event} /> },
  timeColumn('created_at', 'Happened'),
];

/** The event log of the account, newest first. New ones come by themselves. */
export function RoutePage() {
  const [{ event: kind }] = useListSearch();
  const kinds = kind === undefined ? {} : { kinds: [kind as EventType] };
  const query = useParts<QuittanceEvent>(['events', kind], (before, options) =>
    eventsBefore((part) => quittance.events.list({ ...part, ...kinds }, options), before),
  );
  return (
    <Page title="Events">
      <Note>
        What happened to invoices, payouts and refunds, as endpoints receive it. Events are kept for 90 days.
      </Note>
      <GrowingList
        query={query}
        columns={columns}
        filters={filters}
        minWidth={520}
        empty={{
          title: kind === undefined ? 'Nothing has happened yet' : 'No event of this type',
          text: query.hasNextPage
            ? 'Older ones have not been looked through.'
            : 'New ones come here by themselves.',
        }}
        nameOf={({ sequence, event }) => `no. ${sequence}, ${event}`}
        details={{ title: ({ event }) => event, render: (event) => <EventDetails event={event} /> }}
      />
    </Page>
  );
}

function Subject({ event }: { event: QuittanceEvent }) {
  const subject = subjectOf(event);
  if (subject === undefined) return '—';
  const { id, to } = subject;
  const short = <span title={id}>{`${id.slice(0, 12)}…`}</span>;
  return to === undefined ? short : <PageLink to={to}>{short}</PageLink>;
}

const EventDetails = ({ event }: { event: QuittanceEvent }) => (
  <Stack>
    <Text size="sm">{eventMeanings[event.event]}</Text>
    <Facts
      facts={{
        'No.': event.sequence,
        Happened: <Time at={event.created_at} />,
        Id: <Copyable text={event.id} label="Copy the id" />,
      }}
    />
    <JsonView value={event} label="Copy the payload" />
  </Stack>
);
