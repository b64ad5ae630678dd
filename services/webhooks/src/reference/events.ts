import { count, flag, oneOf, saidOf, text, textOf, time } from '@quittance/shared/answer-schemas';
import { documented, errorsOfResource, noFields, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { deliveryStates } from '../domain/delivery.ts';
import { eventTypes } from '../domain/event-types.ts';
import { failures } from '../domain/outcome.ts';
import { readDeliveriesQuery } from '../http/deliveries.ts';
import { eventsForm, streamForm } from '../http/events.ts';
import type { deliveryView } from '../views.ts';
import { deliveryId, endpointId, event, eventId } from './event-schemas.ts';

const attempt = z.strictObject({
  number: z.int().min(1).describe('Which attempt.'),
  started_at: time('When it began.'),
  ms: z.number().nonnegative().describe('How long it took, in milliseconds.'),
  status: z.int().nullable().describe('The status of the answer; null without one.'),
  failure: textOf(failures, 'Why there was no answer, or null.').nullable(),
  answer: text('The first kilobyte of the answer, or null.').nullable(),
});

export const delivery = viewed<ReturnType<typeof deliveryView>>()(
  z
    .strictObject({
      id: deliveryId,
      webhook_id: endpointId,
      event: z
        .strictObject({
          id: eventId,
          event: textOf(eventTypes, 'The event type.'),
          sequence: z.int().min(1).describe('Its place in the log of the account.'),
          created_at: time('When it happened.'),
        })
        .describe('What is delivered.'),
      status: oneOf(deliveryStates, '`delivered`: the endpoint answered 2xx.'),
      next_attempt_at: time('When it is tried next, while it waits; else null.').nullable(),
      attempts: z.array(attempt).describe('The latest ten attempts.'),
    })
    .meta({ id: 'Delivery', description: 'An event for an endpoint, and what the endpoint answered.' }),
);

const deliveryParams = z.strictObject({ id: deliveryId });

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/webhooks/{id}/deliveries',
    operationId: 'listDeliveries',
    tag: 'Webhooks',
    summary: 'List the deliveries of an endpoint',
    description: 'Newest first. Continue with `before=next_before` while `has_more` is true.',
    params: z.strictObject({ id: endpointId }),
    query: documented(readDeliveriesQuery.schema.shape, {
      status: 'Only those with this status.',
      event: 'Only those of this event type.',
      before: 'Only those whose events are older than this sequence.',
      limit: 'At most so many.',
    }),
    answers: {
      200: {
        description: 'A part of the list.',
        json: z
          .strictObject({
            data: z.array(delivery).describe('The deliveries.'),
            meta: z
              .strictObject({
                has_more: flag('Whether there are older ones.'),
                next_before: z.int().nullable().describe('Where the next part begins, or null.'),
              })
              .describe('How to continue.'),
          })
          .meta({ id: 'DeliveryPage', description: 'A part of the list.' }),
      },
    },
    errors: errorsOfResource,
  },
  {
    method: 'get',
    path: '/api/deliveries/{id}',
    operationId: 'getDelivery',
    tag: 'Webhooks',
    summary: 'Read a delivery',
    params: deliveryParams,
    answers: { 200: { description: 'The delivery, as the body itself.', json: delivery } },
    errors: errorsOfResource,
  },
  {
    method: 'post',
    path: '/api/deliveries/{id}/redeliver',
    operationId: 'redeliver',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description: 'Whatever its status. The id of the event stays the same.',
    params: deliveryParams,
    body: noFields,
    answers: { 202: { description: 'It is queued.', json: saidOf(delivery) } },
    errors: [...errorsOfResource, 'conflict'],
  },
  {
    method: 'get',
    path: '/api/events',
    operationId: 'listEvents',
    tag: 'Events',
    summary: 'List events',
    description:
      'Oldest first. Continue with `after=next_after` and the same filters while `has_more` is true.',
    query: documented(eventsForm.schema.shape, {
      after: 'The sequence after which the list begins.',
      limit: 'At most so many.',
      kinds: 'Only these event types.',
      created_from: 'Happened at this moment or later.',
      created_to: 'Happened before this moment.',
    }),
    answers: {
      200: {
        description: 'A part of the log.',
        json: z
          .strictObject({
            data: z.array(event).describe('The events.'),
            meta: z
              .strictObject({
                has_more: flag('Whether there are newer ones.'),
                next_after: count('Where the next part begins.'),
                first_sequence: count('The oldest event that is kept.'),
                last_sequence: count('The newest event.'),
              })
              .describe('How to continue.'),
          })
          .meta({ id: 'EventPage', description: 'A part of the log.' }),
      },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/events/stream',
    operationId: 'streamEvents',
    tag: 'Events',
    summary: 'Follow the events',
    description:
      'Server-sent events: `id` is the sequence, `event` the event type, `data` the event as JSON. A frame `gap` says that events were missed which are not kept any more. A stream ends after ten minutes: connect again with `Last-Event-ID`.',
    query: documented(streamForm.schema.shape, {
      after: 'The sequence after which the stream begins. Default: now.',
      kinds: 'Only these event types.',
    }),
    headers: z.strictObject({
      'Last-Event-ID': z
        .string()
        .regex(/^\d+$/)
        .optional()
        .describe('The sequence of the last event that was read. It overrides `after`.'),
    }),
    answers: {
      200: { description: 'The stream.', others: { 'text/event-stream': 'Events as they happen.' } },
    },
    errors: ['too_many_streams'],
  },
  {
    method: 'get',
    path: '/api/events/{id}',
    operationId: 'getEvent',
    tag: 'Events',
    summary: 'Read an event',
    params: z.strictObject({ id: eventId }),
    answers: { 200: { description: 'The event, as the body itself.', json: event } },
    errors: errorsOfResource,
  },
];
