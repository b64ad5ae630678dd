import { Alert, Code, Group, Paper, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Webhook } from '@quittance/client';
import { useNavigate } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { ConfirmButton, DialogButton } from '../../parts/dialogs.tsx';
import { Facts, Heading, Loaded, Page, usePageId } from '../../parts/page.tsx';
import { useLive } from '../../parts/reading.ts';
import { Copyable, StateBadge, Time } from '../../parts/values.tsx';
import { queries, readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { Deliveries } from './deliveries.tsx';
import { eventMeanings } from './event-types.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { endpointState } from './webhook-state.ts';

/** An endpoint, what can be done with it, and what it was sent. */
export function RoutePage() {
  const id = usePageId();
  const query = useLive(['webhooks', id], (options) => quittance.webhooks.retrieve(id, options));
  return (
    <Page
      title={query.data?.url ?? 'Endpoint'}
      back={{ to: '/webhooks', label: 'Webhooks' }}
      mark={query.data && <StateBadge state={endpointState(query.data, new Date()).state} />}
    >
      <Loaded query={query}>{(endpoint) => <Endpoint endpoint={endpoint} />}</Loaded>
    </Page>
  );
}

const reasons = { failing: 'Failing since', paused: 'Paused until', disabled: 'Disabled since' } as const;

function Endpoint({ endpoint }: { endpoint: Webhook }) {
  const { id, url, description, events, enabled, created_at, failing_since, missed_since } = endpoint;
  const mayWrite = useMay('webhooks:write');
  const { state, at, why } = endpointState(endpoint, new Date());
  return (
    <>
      {state !== 'enabled' && (
        <Alert
          color={state === 'disabled' ? 'red' : 'yellow'}
          title={
            at === null ? (
              'Disabled'
            ) : (
              <>
                {reasons[state]} <Time at={at} />
              </>
            )
          }
        >
          {why}
          {missed_since !== null && (
            <>
              {' '}
              Once it works{enabled ? ' again' : ' and is enabled'}, replay from <Time at={missed_since} />:
              what was missed since then is sent again.
            </>
          )}
        </Alert>
      )}
      {mayWrite && <WebhookActions endpoint={endpoint} />}
      <Paper withBorder p="md">
        <Stack>
          <Facts
            facts={{
              URL: url,
              Description: description,
              Id: <Copyable text={id} label="Copy the id" />,
              Created: <Time at={created_at} />,
              'Failing since': failing_since && <Time at={failing_since} />,
              Events: (
                <Group gap={4}>
                  {events.map((type) => (
                    <Code key={type} title={eventMeanings[type]}>
                      {type}
                    </Code>
                  ))}
                </Group>
              ),
            }}
          />
          {mayWrite && (
            <Group>
              <ChangeEndpoint endpoint={endpoint} />
              <DeleteEndpoint endpoint={endpoint} />
            </Group>
          )}
        </Stack>
      </Paper>
      <Heading>Deliveries</Heading>
      <Deliveries webhookId={id} isEnabled={enabled} />
    </>
  );
}

const ChangeEndpoint = ({ endpoint: { id, url, description, events } }: { endpoint: Webhook }) => (
  <DialogButton
    label="Change"
    title="Change the endpoint"
    dialogSize="xl"
    isKept
    onDone={() => notifications.show({ message: 'The endpoint is changed.' })}
  >
    {(close) => (
      <WebhookForm
        initialValues={{ url, description: description ?? '', events }}
        send={(changes) => quittance.webhooks.update(id, changes)}
        button="Save"
        unknown="It is not known whether it was changed. Press again: it does no harm."
        onDone={close}
      />
    )}
  </DialogButton>
);

function DeleteEndpoint({ endpoint: { id, url } }: { endpoint: Webhook }) {
  const navigate = useNavigate();
  return (
    <ConfirmButton
      label="Delete"
      title="Delete the endpoint?"
      act={() => quittance.webhooks.delete(id)}
      onDone={async () => {
        await navigate({ to: '/webhooks' });
        queries.removeQueries({ queryKey: ['webhooks', id] });
        await readAgain('webhooks');
      }}
    >
      Nothing more is sent to {url}, and what waits is not delivered. This cannot be undone. To stop it for a
      while, disable it.
    </ConfirmButton>
  );
}
