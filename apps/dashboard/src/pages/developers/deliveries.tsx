import {
  Button,
  Code,
  Drawer,
  Group,
  Paper,
  Select,
  Stack,
  Table,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Delivery } from '@quittance/client';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { Failure } from '../../parts/failure.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { OlderButton } from '../../parts/older-button.tsx';
import { Empty, Facts, Loaded } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { eventTypes } from './event-types.ts';
import { outcomeOf } from './webhook-state.ts';

const statuses = ['waiting', 'sending', 'delivered', 'exhausted', 'cancelled'] as const;
const SHOWN = 20;
/** Attempts follow each other within seconds. */
const REFRESH_MS = 5_000;

type Props = { webhookId: string; isEnabled: boolean };
type DeliveriesQuery = NonNullable<Parameters<typeof quittance.deliveries.list>[1]>;

/** What an endpoint was sent, newest first. */
export function Deliveries({ webhookId, isEnabled }: Props) {
  const [{ status, event }, change] = useListSearch();
  const [openId, setOpenId] = useState<string>();
  const query = useInfiniteQuery({
    queryKey: ['deliveries', webhookId, status, event],
    queryFn: ({ pageParam: before, signal }) =>
      quittance.deliveries.list(webhookId, { status, event, before, limit: SHOWN } as DeliveriesQuery, {
        signal,
      }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ meta }) => (meta.has_more ? (meta.next_before ?? undefined) : undefined),
    // All pages that are loaded would be read again.
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 1 ? false : REFRESH_MS),
  });
  const deliveries = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Stack gap="xs">
      <Group gap="xs" align="flex-end">
        <Select
          label="Status"
          placeholder="All"
          data={[...statuses]}
          value={status ?? null}
          onChange={(chosen) => change({ status: chosen ?? undefined })}
          clearable
          w={160}
        />
        <Select
          label="Event"
          placeholder="All"
          data={eventTypes}
          value={event ?? null}
          onChange={(chosen) => change({ event: chosen ?? undefined })}
          clearable
          searchable
          w={240}
        />
      </Group>
      {query.error !== null && <Failure error={query.error} onRetry={query.refetch} />}
      <Paper withBorder>
        <ScrollTable minWidth={560} highlightOnHover verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Event</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Last attempt</Table.Th>
              <Table.Th>Happened</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {deliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} onOpen={() => setOpenId(delivery.id)} />
            ))}
          </Table.Tbody>
        </ScrollTable>
        {query.isPending && query.error === null && <Empty title="Loading" />}
        {query.data !== undefined && deliveries.length === 0 && (
          <Empty title={status || event ? 'Nothing matches these filters' : 'Nothing was sent yet'}>
            Events come here as soon as something happens. Send one with “Test”.
          </Empty>
        )}
      </Paper>
      <OlderButton query={query} />
      <Drawer
        opened={openId !== undefined}
        onClose={() => setOpenId(undefined)}
        title="Delivery"
        position="right"
        size="lg"
      >
        {openId !== undefined && <DeliveryDetails id={openId} isEnabled={isEnabled} />}
      </Drawer>
    </Stack>
  );
}

function DeliveryRow({ delivery, onOpen }: { delivery: Delivery; onOpen(): void }) {
  const last = delivery.attempts.at(-1);
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">{delivery.event.event}</Text>
        <Text size="xs" c="dimmed">
          No. {delivery.event.sequence}
        </Text>
      </Table.Td>
      <Table.Td>
        <StateBadge state={delivery.status} />
        {delivery.next_attempt_at !== null && (
          <Text size="xs" c="dimmed">
            next <Time at={delivery.next_attempt_at} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {last === undefined ? (
          '—'
        ) : (
          <Text size="sm">
            {outcomeOf(last)}{' '}
            <Text component="span" size="xs" c="dimmed">{`(no. ${last.number}, ${last.ms} ms)`}</Text>
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Time at={delivery.event.created_at} />
      </Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-sm"
          variant="default"
          onClick={onOpen}
          aria-label={`Open ${delivery.event.event}, no. ${delivery.event.sequence}`}
        >
          Open
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

function DeliveryDetails({ id, isEnabled }: { id: string; isEnabled: boolean }) {
  const client = useQueryClient();
  const mayWrite = useMay('webhooks:write');
  const query = useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => quittance.deliveries.retrieve(id, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const redeliver = useMutation({
    mutationFn: () => quittance.deliveries.redeliver(id),
    onSuccess: (delivery) => {
      notifications.show({ message: 'It is sent again.' });
      client.setQueryData(['delivery', id], delivery);
      return client.invalidateQueries({ queryKey: ['deliveries', delivery.webhook_id] });
    },
  });
  return (
    <Loaded query={query}>
      {(delivery) => (
        <Stack>
          <Facts
            facts={[
              ['Event', delivery.event.event],
              ['Status', <StateBadge key="status" state={delivery.status} />],
              ['Next attempt', delivery.next_attempt_at && <Time key="next" at={delivery.next_attempt_at} />],
              [
                'Event id',
                <Copyable key="event" text={delivery.event.id} label="Copy the id of the event" />,
              ],
              ['Delivery id', <Copyable key="id" text={delivery.id} label="Copy the id of the delivery" />],
            ]}
          />
          {mayWrite && isEnabled && (
            <Group>
              <Button
                variant="default"
                loading={redeliver.isPending}
                disabled={delivery.status === 'sending'}
                onClick={() => redeliver.mutate()}
              >
                Send again
              </Button>
            </Group>
          )}
          {redeliver.error !== null && <Failure error={redeliver.error} />}
          <Title order={3} size="h5">
            Attempts
          </Title>
          {delivery.attempts.length === 0 && <Text size="sm">None yet.</Text>}
          {delivery.attempts.toReversed().map((attempt) => (
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
          <Payload eventId={delivery.event.id} />
        </Stack>
      )}
    </Loaded>
  );
}

/** The event itself, for those who may read events. */
function Payload({ eventId }: { eventId: string }) {
  const mayRead = useMay('events:read');
  const query = useQuery({
    queryKey: ['event', eventId],
    queryFn: ({ signal }) => quittance.events.retrieve(eventId, { signal }),
    enabled: mayRead,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!mayRead) return <Text size="sm">Your role does not read events.</Text>;
  return <Loaded query={query}>{(event) => <JsonView value={event} label="Copy the payload" />}</Loaded>;
}
