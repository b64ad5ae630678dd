import { Alert, Button, Code, Group, Modal, Paper, Stack, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { Webhook } from '@quittance/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { usePageId } from '../../parts/page-id.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { Deliveries } from './deliveries.tsx';
import { eventMeanings } from './event-types.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { endpointState } from './webhook-state.ts';

/** An endpoint, what can be done with it, and what it was sent. */
export function RoutePage() {
  const id = usePageId();
  const query = useQuery({
    queryKey: ['webhooks', id],
    queryFn: ({ signal }) => quittance.webhooks.retrieve(id, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const state = query.data === undefined ? undefined : endpointState(query.data, new Date()).state;
  return (
    <Page
      title={query.data?.url ?? 'Endpoint'}
      back={{ to: '/webhooks', label: 'Webhooks' }}
      mark={state !== undefined && <StateBadge state={state} />}
    >
      <Loaded query={query}>{(endpoint) => <Endpoint endpoint={endpoint} />}</Loaded>
    </Page>
  );
}

function Endpoint({ endpoint }: { endpoint: Webhook }) {
  const mayWrite = useMay('webhooks:write');
  const { state, at, why } = endpointState(endpoint, new Date());
  return (
    <>
      {state !== 'enabled' && (
        <Alert color={state === 'disabled' ? 'red' : 'yellow'} title={<Reason state={state} at={at} />}>
          {why}
          {endpoint.missed_since !== null && (
            <>
              {' '}
              Once it works{endpoint.enabled ? ' again' : ' and is enabled'}, replay from{' '}
              <Time at={endpoint.missed_since} />: what was missed since then is sent again.
            </>
          )}
        </Alert>
      )}
      {mayWrite && <WebhookActions endpoint={endpoint} />}
      <Paper withBorder p="md">
        <Stack>
          <Facts
            facts={[
              ['URL', endpoint.url],
              ['Description', endpoint.description],
              ['Id', <Copyable key="id" text={endpoint.id} label="Copy the id" />],
              ['Created', <Time key="created" at={endpoint.created_at} />],
              ['Failing since', endpoint.failing_since && <Time key="failing" at={endpoint.failing_since} />],
              ['Events', <EventTypes key="events" types={endpoint.events} />],
            ]}
          />
          {mayWrite && (
            <Group>
              <ChangeEndpoint endpoint={endpoint} />
              <DeleteEndpoint endpoint={endpoint} />
            </Group>
          )}
        </Stack>
      </Paper>
      <Title order={2} size="h4">
        Deliveries
      </Title>
      <Deliveries webhookId={endpoint.id} isEnabled={endpoint.enabled} />
    </>
  );
}

const Reason = ({ state, at }: { state: string; at: string | null }) => (
  <>
    {state === 'failing' ? 'Failing' : state === 'paused' ? 'Paused' : 'Disabled'}
    {at !== null && (
      <>
        {state === 'paused' ? ' until ' : ' since '}
        <Time at={at} />
      </>
    )}
  </>
);

const EventTypes = ({ types }: { types: Webhook['events'] }) => (
  <Group gap={4}>
    {types.map((type) => (
      <Code key={type} title={eventMeanings[type]}>
        {type}
      </Code>
    ))}
  </Group>
);

function ChangeEndpoint({ endpoint }: { endpoint: Webhook }) {
  const [isOpen, { open, close }] = useDisclosure();
  const { url, description, events } = endpoint;
  return (
    <>
      <Button variant="default" onClick={open}>
        Change
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title="Change the endpoint"
        size="xl"
        closeOnClickOutside={false}
      >
        <WebhookForm
          initialValues={{ url, description: description ?? '', events }}
          send={(changes) => quittance.webhooks.update(endpoint.id, changes)}
          label="Save"
          unknown="It is not known whether it was changed. Press again: it does no harm."
          onDone={() => {
            close();
            notifications.show({ message: 'The endpoint is changed.' });
          }}
        />
      </Modal>
    </>
  );
}

function DeleteEndpoint({ endpoint }: { endpoint: Webhook }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmButton
      label="Delete"
      title="Delete the endpoint?"
      act={() => quittance.webhooks.delete(endpoint.id)}
      onDone={async () => {
        await navigate({ to: '/webhooks' });
        client.removeQueries({ queryKey: ['webhooks', endpoint.id] });
        await client.invalidateQueries({ queryKey: ['webhooks'] });
      }}
    >
      Nothing more is sent to {endpoint.url}, and what waits is not delivered. This cannot be undone. To stop
      it for a while, disable it.
    </ConfirmButton>
  );
}
