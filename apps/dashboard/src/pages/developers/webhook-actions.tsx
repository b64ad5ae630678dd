import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { Webhook } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { Replay } from './replay.tsx';

/** What is done with an endpoint: test, replay, rotate its secret, disable and enable. */
export function WebhookActions({ endpoint }: { endpoint: Webhook }) {
  const client = useQueryClient();
  const changed = async () => {
    await client.invalidateQueries({ queryKey: ['webhooks'] });
    await client.invalidateQueries({ queryKey: ['deliveries', endpoint.id] });
  };
  const test = useMutation({
    mutationFn: () => quittance.webhooks.test(endpoint.id),
    onSuccess: () => {
      notifications.show({ message: 'The event webhook.test is on its way: see the deliveries below.' });
      return client.invalidateQueries({ queryKey: ['deliveries', endpoint.id] });
    },
  });
  const enable = useMutation({
    mutationFn: () => quittance.webhooks.enable(endpoint.id),
    onSuccess: changed,
  });
  const error = test.error ?? enable.error;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {endpoint.enabled ? (
          <>
            <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
              Test
            </Button>
            <Replay endpoint={endpoint} />
          </>
        ) : (
          <Button loading={enable.isPending} onClick={() => enable.mutate()}>
            Enable
          </Button>
        )}
        <RotateSecret endpoint={endpoint} />
        {endpoint.enabled && (
          <ConfirmButton
            label="Disable"
            title="Disable the endpoint?"
            act={() => quittance.webhooks.disable(endpoint.id)}
            onDone={changed}
          >
            Nothing more is sent, and what waits is cancelled. When it is enabled again, replay what it has
            missed.
          </ConfirmButton>
        )}
      </Group>
      {error !== null && <Failure error={error} />}
    </Stack>
  );
}

const overlaps = [
  { value: 0, label: 'Not at all: all former ones end now' },
  { value: 1, label: 'For an hour' },
  { value: 24, label: 'For a day' },
] as const;

function RotateSecret({ endpoint }: { endpoint: Webhook }) {
  const [isOpen, { open, close }] = useDisclosure();
  const [shown, setShown] = useState<{ secret: string; formerUntil: string }>();
  return (
    <>
      <Button variant="default" onClick={open}>
        Rotate the secret
      </Button>
      <Modal opened={isOpen} onClose={close} title="Rotate the secret" closeOnClickOutside={false}>
        <RotateForm
          id={endpoint.id}
          onRotated={(rotated) => {
            close();
            setShown(rotated);
          }}
        />
      </Modal>
      <ShownOnce
        title="The new secret"
        secret={shown?.secret}
        copyLabel="Copy the secret"
        onClose={() => setShown(undefined)}
      >
        {shown !== undefined && (
          <>
            Give it to your server beside the former one, which is used too until{' '}
            {new Date(shown.formerUntil).toLocaleString()}.
          </>
        )}
      </ShownOnce>
    </>
  );
}

type RotateProps = { id: string; onRotated(rotated: { secret: string; formerUntil: string }): void };

function RotateForm({ id, onRotated }: RotateProps) {
  const stepUp = useStepUp();
  const [overlap, setOverlap] = useState(24);
  const rotate = useMutation({
    mutationFn: () => stepUp(() => quittance.webhooks.rotate(id, { overlap_hours: overlap })),
    onSuccess: ({ secret, former_secrets_end_at: formerUntil }) => onRotated({ secret, formerUntil }),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate.mutate();
      }}
    >
      <Stack>
        <Text size="sm">Deliveries are signed with the former and the new secret until the former ends.</Text>
        <Select
          label="How long the present one stays valid"
          data={[...overlaps]}
          value={overlap}
          onChange={(value) => setOverlap(value ?? 24)}
          allowDeselect={false}
        />
        <UnknownOutcome error={rotate.error}>
          It is not known whether it was rotated. Press again: the secret that is shown then is valid.
        </UnknownOutcome>
        {rotate.error !== null && <Failure error={rotate.error} />}
        <Button type="submit" loading={rotate.isPending}>
          Rotate
        </Button>
      </Stack>
    </form>
  );
}
