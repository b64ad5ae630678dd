import { Anchor, Button, Modal, Stack, Text, Tooltip } from '@mantine/core';
import type { Webhook } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { type Column, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { defaultTypes } from './event-types.ts';
import { WebhookForm } from './webhook-form.tsx';
import { endpointState } from './webhook-state.ts';

export function RoutePage() {
  const navigate = useNavigate();
  const mayWrite = useMay('webhooks:write');
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<{ id: string; secret: string }>();
  return (
    <Page
      title="Webhooks"
      actions={
        mayWrite && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            Add an endpoint
          </Button>
        )
      }
    >
      <ListPage<Webhook>
        name="webhooks"
        load={(query, signal) => quittance.webhooks.list(query, { signal })}
        columns={columns}
        to={({ id }) => `/webhooks/${id}`}
        empty={{
          title: 'There are no endpoints',
          text: 'An endpoint of your server receives what happens to invoices and payouts, as signed requests.',
        }}
      />
      <Modal
        opened={isCreating}
        onClose={() => setCreating(false)}
        title="Add an endpoint"
        size="xl"
        closeOnClickOutside={false}
      >
        <WebhookForm
          initialValues={{ url: '', description: '', events: [...defaultTypes] }}
          send={(endpoint) => quittance.webhooks.create(endpoint)}
          label="Add"
          unknown="It is not known whether the endpoint was added. Close this and look at the list: if it is there, rotate its secret, because it cannot be shown any more."
          onDone={({ id, secret }) => {
            setCreating(false);
            setCreated({ id, secret });
          }}
        />
      </Modal>
      <ShownOnce
        title="The secret of the endpoint"
        secret={created?.secret}
        copyLabel="Copy the secret"
        onClose={() => {
          void navigate({ to: `/webhooks/${created?.id}` });
          setCreated(undefined);
        }}
      >
        Your server verifies with it that requests are from here. It belongs into the settings of your server.
      </ShownOnce>
    </Page>
  );
}

const columns: readonly Column<Webhook>[] = [
  {
    id: 'url',
    title: 'Endpoint',
    render: ({ id, url, description }) => (
      <Stack gap={0} style={{ overflowWrap: 'anywhere', minWidth: 180 }}>
        <Anchor
          component={Link}
          to={`/webhooks/${id}`}
          size="sm"
          fw={600}
          onClick={(event) => event.stopPropagation()}
        >
          {url}
        </Anchor>
        {description !== null && (
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        )}
      </Stack>
    ),
  },
  { id: 'state', title: 'State', render: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
  {
    id: 'events',
    title: 'Events',
    render: ({ events }) => (
      <Tooltip label={events.join(', ')}>
        <span>{events.length === 1 ? events[0] : `${events.length} types`}</span>
      </Tooltip>
    ),
  },
  { id: 'created_at', title: 'Created', render: ({ created_at: at }) => <Time at={at} /> },
];

export function EndpointBadge({ endpoint }: { endpoint: Webhook }) {
  const { state, at, why } = endpointState(endpoint, new Date());
  const badge = <StateBadge state={state} />;
  if (at === null) return badge;
  return (
    <Stack gap={0} align="flex-start">
      {badge}
      <Text size="xs" c="dimmed">
        {state === 'paused' ? 'until ' : 'since '}
        <Time at={at} />
      </Text>
      {state === 'disabled' && (
        <Text size="xs" c="dimmed">
          {why}
        </Text>
      )}
    </Stack>
  );
}
