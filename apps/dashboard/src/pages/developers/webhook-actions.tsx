import { Button, Group, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Webhook } from '@quittance/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton, DialogButton, ShownOnce } from '../../parts/dialogs.tsx';
import { Failure } from '../../parts/failure.tsx';
import { readAgain } from '../../queries.ts';
import { Replay } from './replay.tsx';
import { RotateForm } from './rotate-form.tsx';

/** What is done with an endpoint: test, replay, rotate its secret, disable and enable. */
export function WebhookActions({ endpoint: { id, enabled }, endpoint }: { endpoint: Webhook }) {
  const changed = () => readAgain('webhooks', 'deliveries');
  const test = useMutation({
    mutationFn: () => quittance.webhooks.test(id),
    onSuccess: () => {
      notifications.show({ message: 'The event webhook.test is on its way: see the deliveries below.' });
      return changed();
    },
  });
  const enable = useMutation({ mutationFn: () => quittance.webhooks.enable(id), onSuccess: changed });
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {enabled ? (
          <>
            <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
              Test
            </Button>
            <DialogButton label="Replay" title="Replay events">
              {(close) => <Replay endpoint={endpoint} onClose={close} />}
            </DialogButton>
          </>
        ) : (
          <Button loading={enable.isPending} onClick={() => enable.mutate()}>
            Enable
          </Button>
        )}
        <RotateSecret id={id} />
        {enabled && (
          <ConfirmButton
            label="Disable"
            title="Disable the endpoint?"
            act={() => quittance.webhooks.disable(id)}
            onDone={changed}
          >
            Nothing more is sent, and what waits is cancelled. When it is enabled again, replay what it has
            missed.
          </ConfirmButton>
        )}
      </Group>
      <Failure error={test.error ?? enable.error} />
    </Stack>
  );
}

const overlaps = [
  { value: 0, label: 'Not at all: all former ones end now' },
  { value: 1, label: 'For an hour' },
  { value: 24, label: 'For a day' },
] as const;

function RotateSecret({ id }: { id: string }) {
  const [shown, setShown] = useState<{ secret: string; former_secrets_end_at: string }>();
  return (
    <>
      <DialogButton label="Rotate the secret" isKept onDone={setShown}>
        {(close) => (
          <RotateForm
            overlaps={overlaps}
            send={(hours) => quittance.webhooks.rotate(id, { overlap_hours: hours })}
            onDone={close}
            changes={[]}
            unknown="It is not known whether it was rotated. Press again: the secret that is shown then is valid."
          >
            Deliveries are signed with the former and the new secret until the former ends.
          </RotateForm>
        )}
      </DialogButton>
      <ShownOnce
        title="The new secret"
        secret={shown?.secret}
        copyLabel="Copy the secret"
        onClose={() => setShown(undefined)}
      >
        Give it to your server beside the former one, which is used too until{' '}
        {shown && new Date(shown.former_secrets_end_at).toLocaleString()}.
      </ShownOnce>
    </>
  );
}
