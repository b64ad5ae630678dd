import { Tooltip } from '@mantine/core';
import type { Webhook } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { DialogButton, ShownOnce } from '../../parts/dialogs.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { Page, PageLink, WithNote } from '../../parts/page.tsx';
import { type Column, timeColumn } from '../../parts/table.tsx';
import { StateBadge, Time } from '../../parts/values.tsx';
import { useMay } from '../../session/session.ts';
import { defaultTypes } from './event-types.ts';
import { WebhookForm } from './webhook-form.tsx';
import { endpointState } from './webhook-state.ts';

export function RoutePage() {
  const navigate = useNavigate();
  const mayWrite = useMay('webhooks:write');
  const [created, setCreated] = useState<{ id: string; secret: string }>();
  return (
    <Page title="Webhooks" actions={mayWrite && <AddEndpoint onAdded={setCreated} />}>
      <ListPage<Webhook>
        name="webhooks"
        load={(query, options) => quittance.webhooks.list(query, options)}
        columns={columns}
        to={({ id }) => `/webhooks/${id}`}
        empty={{
          title: 'There are no endpoints',
          text: 'An endpoint of your server receives what happens to invoices and payouts, as signed requests.',
        }}
      />
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

const AddEndpoint = ({ onAdded }: { onAdded(added: { id: string; secret: string }): void }) => (
  <DialogButton
    label="Add an endpoint"
    onDone={onAdded}
    variant="filled"
    leftSection={<IconPlus size={16} />}
    dialogSize="xl"
    isKept
  >
    {(close) => (
      <WebhookForm
        initialValues={{ url: '', description: '', events: [...defaultTypes] }}
        send={(endpoint) => quittance.webhooks.create(endpoint)}
        button="Add"
        unknown="It is not known whether the endpoint was added. Close this and look at the list: if it is there, rotate its secret, because it cannot be shown any more."
        onDone={close}
      />
    )}
  </DialogButton>
);

const columns: readonly Column<Webhook>[] = [
  {
    id: 'url',
    title: 'Endpoint',
    render: ({ id, url, description }) => (
      <WithNote width={180} note={description}>
        <PageLink to={`/webhooks/${id}`} fw={600}>
          {url}
        </PageLink>
      </WithNote>
    ),
  },
  { id: 'state', title: 'State', render: stateOf },
  {
    id: 'events',
    title: 'Events',
    render: ({ events }) => (
      <Tooltip label={events.join(', ')}>
        <span>{events.length === 1 ? events[0] : `${events.length} types`}</span>
      </Tooltip>
    ),
  },
  timeColumn('created_at', 'Created'),
];

function stateOf(endpoint: Webhook) {
  const { state, at, why } = endpointState(endpoint, new Date());
  const note = at !== null && (
    <>
      {state === 'paused' ? 'until ' : 'since '}
      <Time at={at} />
      {state === 'disabled' && <div>{why}</div>}
    </>
  );
  return (
    <WithNote note={note}>
      <StateBadge state={state} />
    </WithNote>
  );
}
