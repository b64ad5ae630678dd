import { TextInput } from '@mantine/core';
import { isNotEmpty } from '@mantine/form';
import type { CreateWebhook, EventType } from '@quittance/client';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { EventChoice } from './event-choice.tsx';

type Props<T> = {
  initialValues: { url: string; description: string; events: EventType[] };
  send(values: CreateWebhook & { events: EventType[] }): Promise<T>;
  button: string;
  /** What to do when it is not known whether it was sent. */
  unknown: string;
  onDone(answer: T): void;
};

/** The fields of an endpoint, for a new one or to change one. */
export function WebhookForm<T>({ initialValues, send, button, unknown, onDone }: Props<T>) {
  const sent = useSentForm({
    initialValues,
    validate: { events: isNotEmpty('Choose what it receives.') },
    send: ({ url, description, events }) =>
      send({ url: url.trim(), events, description: description.trim() || null }),
    onDone,
    changes: ['webhooks'],
  });
  const { values, errors, setFieldValue } = sent.form;
  return (
    <SendForm sent={sent} button={button} unknown={unknown}>
      <TextInput
        label="URL"
        description="Where events are sent to: https, a public host"
        placeholder="https://shop.example.com/quittance"
        required
        data-autofocus
        {...sent.field('url')}
      />
      <TextInput label="Description" placeholder="Your own text" {...sent.field('description')} />
      <EventChoice
        value={values.events}
        onChange={(events) => setFieldValue('events', events)}
        error={errors['events'] as string | undefined}
      />
    </SendForm>
  );
}
