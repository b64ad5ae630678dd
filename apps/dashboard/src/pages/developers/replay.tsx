import { Button, Checkbox, Stack, Text } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import type { Webhook } from '@quittance/client';
import dayjs from 'dayjs';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';

const KEPT_DAYS = 90;
const PICKED = 'YYYY-MM-DD HH:mm:ss';

type Replayed = Awaited<ReturnType<typeof quittance.webhooks.replay>>;

/** Queues what the endpoint has missed in a time range. */
export function Replay({ endpoint, onClose }: { endpoint: Webhook; onClose(): void }) {
  const [replayed, setReplayed] = useState<Replayed>();
  const sent = useSentForm({
    initialValues: {
      from: dayjs(endpoint.missed_since ?? dayjs().subtract(1, 'day')).format(PICKED),
      to: dayjs().format(PICKED),
      include_delivered: false,
    },
    send: ({ from, to, include_delivered }) =>
      quittance.webhooks.replay(endpoint.id, { from: new Date(from), to: new Date(to), include_delivered }),
    onDone: setReplayed,
    changes: ['deliveries'],
  });
  if (replayed !== undefined) {
    const { queued, already_waiting: waiting, already_delivered: delivered } = replayed;
    return (
      <Stack>
        <Text>
          {queued === 0 ? 'Nothing was missed in this time.' : `${queued} deliveries are queued.`}
          {waiting > 0 && ` ${waiting} were waiting already.`}
          {delivered > 0 && ` ${delivered} had been delivered before.`}
        </Text>
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
      </Stack>
    );
  }
  const range = { valueFormat: 'D MMM YYYY, HH:mm', required: true, maxDate: new Date() } as const;
  return (
    <SendForm sent={sent} button="Replay">
      <Text size="sm">
        Events of this time that the endpoint never got are sent, with the ids they had. Repeating it does no
        harm.
      </Text>
      <DateTimePicker
        label="From"
        minDate={dayjs().subtract(KEPT_DAYS, 'day').toDate()}
        {...range}
        {...sent.field('from')}
      />
      <DateTimePicker label="To" {...range} {...sent.field('to')} />
      <Checkbox
        label="Also what was delivered before"
        {...sent.field('include_delivered', { type: 'checkbox' })}
      />
    </SendForm>
  );
}
