import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Delivery } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { GrowingList } from '../../parts/growing-list.tsx';
import type { Filter } from '../../parts/list-filters.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { Facts, Loaded, Small, WithNote } from '../../parts/page.tsx';
import { useParts, useRead } from '../../parts/reading.ts';
import type { Column } from '../../parts/table.tsx';
import { Copyable, JsonView, StateBadge, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { eventTypes } from './event-types.ts';
import { outcomeOf } from './webhook-state.ts';

const SHOWN = 20;
/** Attempts follow each other within seconds. */
const REFRESH_MS = 5_000;

type DeliveriesQuery = NonNullable<Parameters<typeof quittance.deliveries.list>[1]>;

const filters: readonly Filter[] = [
  {
    kind: 'choice',
    name: 'status',
    label: 'Status',
    choices: ['waiting', 'sending', 'delivered', 'exhausted', 'cancelled'],
  },
  { kind: 'choice', name: 'event', label: 'Event', choices: eventTypes, isLong: true },
];

const columns: readonly Column<Delivery>[] = [
  {
    id: 'event',
    title: 'Event',
    render: ({ event }) => <WithNote note={`No. ${event.sequence}`}>{event.event}</WithNote>,
  },
  {
    id: 'status',
    title: 'Status',
    render: ({ status, next_attempt_at: next }) => (
      <>
        <StateBadge state={status} />
        {next !== null && (
          <Small>
            next <Time at={next} />
          </Small>
        )}
      </>
    ),
  },
  {
    id: 'attempt',
    title: 'Last attempt',
    render: ({ attempts }) => {
      const last = attempts.at(-1);
      if (last === undefined) return '—';
      return <WithNote note={`(no. ${last.number}, ${last.ms} ms)`}>{outcomeOf(last)}</WithNote>;
    },
  },
  { id: 'created_at', title: 'Happened', render: ({ event }) => <Time at={event.created_at} /> },
];

/** What an endpoint was sent, newest first. */
export function Deliveries({ webhookId, isEnabled }: { webhookId: string; isEnabled: boolean }) {
  const [{ status, event }] = useListSearch();
  const query = useParts(
    ['deliveries', webhookId, status, event],
    async (before, options) => {
      const asked = { status, event, before, limit: SHOWN } as DeliveriesQuery;
      const { data, meta } = await quittance.deliveries.list(webhookId, asked, options);
      return { rows: data, before: meta.has_more ? (meta.next_before ?? undefined) : undefined };
    },
    REFRESH_MS,
  );
  return (
    <GrowingList<Delivery>
      query={query}
      columns={columns}
      filters={filters}
      minWidth={560}
      empty={{
        title: status || event ? 'Nothing matches these filters' : 'Nothing was sent yet',
        text: 'Events come here as soon as something happens. Send one with “Test”.',
      }}
      nameOf={(delivery) => `${delivery.event.event}, no. ${delivery.event.sequence}`}
      details={{
        title: () => 'Delivery',
        render: ({ id }) => <DeliveryDetails id={id} isEnabled={isEnabled} />,
      }}
    />
  );
}

function DeliveryDetails({ id, isEnabled }: { id: string; isEnabled: boolean }) {
  const client = useQueryClient();
  const mayWrite = useMay('webhooks:write');
  const query = useRead(['delivery', id], (options) => quittance.deliveries.retrieve(id, options), {
    refetchInterval: REFRESH_MS,
  });
  const redeliver = useMutation({
    mutationFn: () => quittance.deliveries.redeliver(id),
    onSuccess: (delivery) => {
      notifications.show({ message: 'It is sent again.' });
      client.setQueryData(['delivery', id], delivery);
      return readAgain('deliveries');
    },
  });
  return (
    <Loaded query={query}>
      {({ event, status, next_attempt_at: next, attempts }) => (
        <Stack>
          <Facts
            facts={{
              Event: event.event,
              Status: <StateBadge state={status} />,
              'Next attempt': next && <Time at={next} />,
              'Event id': <Copyable text={event.id} label="Copy the id of the event" />,
              'Delivery id': <Copyable text={id} label="Copy the id of the delivery" />,
            }}
          />
          {mayWrite && isEnabled && (
            <Group>
              <Button
                variant="default"
                loading={redeliver.isPending}
                disabled={status === 'sending'}
                onClick={() => redeliver.mutate()}
              >
                Send again
              </Button>
            </Group>
          )}
          <Failure error={redeliver.error} />
          <Title order={3} size="h5">
            Attempts
          </Title>
          {attempts.length === 0 && <Text size="sm">None yet.</Text>}
          {attempts.toReversed().map((attempt) => (
            <Paper key={attempt.number} withBorder p="xs">
              <Stack gap={4}>
                <Text size="sm">
                  No. {attempt.number}: {outcomeOf(attempt)}, after {attempt.ms} ms,{' '}
                  <Time at={attempt.started_at} />
                </Text>
                {attempt.answer !== null && attempt.answer !== '' && (
                  <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                    {attempt.answer}
                  </Code>
                )}
              </Stack>
            </Paper>
          ))}
          <Title order={3} size="h5">
            What is sent
          </Title>
          <Payload eventId={event.id} />
        </Stack>
      )}
    </Loaded>
  );
}

/** The event itself, for those who may read events. */
function Payload({ eventId }: { eventId: string }) {
  const mayRead = useMay('events:read');
  const query = useRead(['event', eventId], (options) => quittance.events.retrieve(eventId, options), {
    enabled: mayRead,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!mayRead) return <Text size="sm">Your role does not read events.</Text>;
  return <Loaded query={query}>{(event) => <JsonView value={event} label="Copy the payload" />}</Loaded>;
}
