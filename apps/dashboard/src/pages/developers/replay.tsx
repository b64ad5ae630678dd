import { Button, Checkbox, Modal, Stack, Text } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { Webhook } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import dayjs from 'dayjs';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';

const KEPT_DAYS = 90;

/** Queues what the endpoint has missed in a time range. */
export function Replay({ endpoint }: { endpoint: Webhook }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" onClick={open}>
        Replay
      </Button>
      <Modal opened={isOpen} onClose={close} title="Replay events">
        <ReplayForm endpoint={endpoint} onClose={close} />
      </Modal>
    </>
  );
}

const PICKED = 'YYYY-MM-DD HH:mm:ss';

function ReplayForm({ endpoint, onClose }: { endpoint: Webhook; onClose(): void }) {
  const client = useQueryClient();
  const form = useForm({
    initialValues: {
      from: dayjs(endpoint.missed_since ?? dayjs().subtract(1, 'day')).format(PICKED),
      to: dayjs().format(PICKED),
      include_delivered: false,
    },
  });
  const replay = useMutation({
    mutationFn: ({ from, to, include_delivered }: typeof form.values) =>
      quittance.webhooks.replay(endpoint.id, { from: new Date(from), to: new Date(to), include_delivered }),
    onError: (error) => form.setErrors(errorsOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['deliveries', endpoint.id] }),
  });
  if (replay.data !== undefined) {
    const { queued, already_waiting: waiting, already_delivered: delivered } = replay.data;
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
    <form onSubmit={form.onSubmit((values) => replay.mutate(values))}>
      <Stack>
        <Text size="sm">
          Events of this time that the endpoint never got are sent, with the ids they had. Repeating it does
          no harm.
        </Text>
        <DateTimePicker
          label="From"
          minDate={dayjs().subtract(KEPT_DAYS, 'day').toDate()}
          {...range}
          {...form.getInputProps('from')}
        />
        <DateTimePicker label="To" {...range} {...form.getInputProps('to')} />
        <Checkbox
          label="Also what was delivered before"
          {...form.getInputProps('include_delivered', { type: 'checkbox' })}
        />
        {replay.error !== null && <Failure error={replay.error} />}
        <Button type="submit" loading={replay.isPending}>
          Replay
        </Button>
      </Stack>
    </form>
  );
}
