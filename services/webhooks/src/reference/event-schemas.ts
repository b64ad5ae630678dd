import { count, id, oneOf, text, time } from '@quittance/shared/answer-schemas';
import { z } from 'zod';
import { deliveryIdForm } from '../domain/delivery.ts';
import { eventTypes, type WebhookEventType } from '../domain/event-types.ts';

export const endpointId = id('whe', 'The id of the endpoint.');
export const eventId = id('evt', 'The id of the event.');
export const deliveryId = z.string().regex(deliveryIdForm).describe('The id of the delivery.');

/** The names of the schemas of what events are about. Other services have them. */
export type EventData =
  | 'Invoice'
  | 'InvoiceWithUnresolvedPayment'
  | 'Payout'
  | 'Refund'
  | 'AutomaticPayout'
  | 'TestEventData';

export const dataOfEvent = (type: WebhookEventType): EventData => {
  if (type === 'invoice.unresolved_payment') return 'InvoiceWithUnresolvedPayment';
  if (type.startsWith('invoice.')) return 'Invoice';
  if (type.startsWith('payout.')) return 'Payout';
  if (type.startsWith('refund.')) return 'Refund';
  return type === 'webhook.test' ? 'TestEventData' : 'AutomaticPayout';
};

const dataTexts: Record<EventData, string> = {
  Invoice: 'The invoice at that moment.',
  InvoiceWithUnresolvedPayment: 'The invoice at that moment, and the funds.',
  Payout: 'The payout at that moment.',
  Refund: 'The refund at that moment.',
  AutomaticPayout: 'The automatic payout at that moment.',
  TestEventData: 'What the test says.',
};

export const testData = z
  .strictObject({ webhook_id: endpointId, message: text('That nothing has happened.') })
  .meta({ id: 'TestEventData', description: 'What a test event says.' });

const head = {
  id: eventId,
  created_at: time('When it happened.'),
  sequence: z.int().min(1).describe('Counts the events of the account without a gap.'),
  version: count('Counts the changes of what it is about.'),
};

/** A schema of another service, by its name. */
const refersTo = (name: EventData) =>
  z.unknown().meta({ $ref: `#/components/schemas/${name}`, description: dataTexts[name] });

/** The schema of the events of these types. */
export const eventOf = (types: readonly WebhookEventType[], name: EventData) =>
  z.strictObject({
    id: head.id,
    event: oneOf(types as [string, ...string[]], 'The event type.'),
    created_at: head.created_at,
    sequence: head.sequence,
    version: head.version,
    data: refersTo(name),
  });

const byData = Map.groupBy(eventTypes, dataOfEvent);

const nameOf = (name: EventData) =>
  name === 'TestEventData'
    ? 'TestEvent'
    : `${name === 'InvoiceWithUnresolvedPayment' ? 'UnresolvedPayment' : name}Event`;

const variants = [...byData].map(([name, types]) =>
  eventOf(types, name).meta({ id: nameOf(name), description: 'An event.' }),
);

/** An event in the log, and the body of its webhook. */
export const event = z
  .union(variants)
  .meta({ id: 'Event', description: 'Something that happened in the account.' });
