import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { CreateWebhook, EventType } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Failure } from '../../parts/failure.tsx';
import { errorsOfLists } from '../../parts/form-errors.ts';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { EventChoice } from './event-choice.tsx';

type Values = { url: string; description: string; events: EventType[] };

type Props<T> = {
  initialValues: Values;
  send(values: CreateWebhook & { events: EventType[] }): Promise<T>;
  label: string;
  /** What to do when it is not known whether it was sent. */
  unknown: string;
  onDone(answer: T): void;
};

/** The fields of an endpoint, for a new one or to change one. */
export function WebhookForm<T>({ initialValues, send, label, unknown, onDone }: Props<T>) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const form = useForm({
    initialValues,
    validate: {
      events: (events) => (events.length === 0 ? 'Choose what it receives.' : null),
    },
  });
  const run = useMutation({
    mutationFn: ({ url, description, events }: Values) =>
      stepUp(() =>
        send({ url: url.trim(), events, description: description.trim() === '' ? null : description.trim() }),
      ),
    onSuccess: onDone,
    onError: (error) => form.setErrors(errorsOfLists(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  return (
    <form onSubmit={form.onSubmit((values) => run.mutate(values))}>
      <Stack>
        <TextInput
          label="URL"
          description="Where events are sent to: https, a public host"
          placeholder="https://shop.example.com/quittance"
          required
          data-autofocus
          {...form.getInputProps('url')}
        />
        <TextInput label="Description" placeholder="Your own text" {...form.getInputProps('description')} />
        <EventChoice
          value={form.values.events}
          onChange={(events) => form.setFieldValue('events', events)}
          error={form.errors['events'] as string | undefined}
        />
        <UnknownOutcome error={run.error}>
          <Text size="sm">{unknown}</Text>
        </UnknownOutcome>
        {run.error !== null && <Failure error={run.error} />}
        <Button type="submit" loading={run.isPending}>
          {label}
        </Button>
      </Stack>
    </form>
  );
}
