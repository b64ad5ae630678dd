import { count, flag, message, pageOf, saidOf, text, textOf, time } from '@quittance/shared/answer-schemas';
import { pageForm } from '@quittance/shared/pages';
import {
  documented,
  errorsOfResource,
  noFields,
  type Operation,
  pagedQuery,
  viewed,
} from '@quittance/shared/reference';
import { z } from 'zod';
import { eventTypes } from '../domain/event-types.ts';
import { replayForm } from '../http/deliveries.ts';
import { changedFields, endpointFields, readRotation } from '../http/endpoints.ts';
import type { endpointView, newEndpointView, rotatedEndpointView } from '../views.ts';
import { deliveryId, endpointId, event } from './event-schemas.ts';

const shape = {
  id: endpointId,
  url: text('Where events are sent to.'),
  events: z.array(textOf(eventTypes, 'An event type.')).describe('The event types that it receives.'),
  description: text('Your own text, or null.').nullable(),
  enabled: flag('Whether events are sent to it.'),
  disabled_reason: text('Why it is disabled, or null.').nullable(),
  disabled_at: time('When it was last disabled, or null.').nullable(),
  missed_since: time('From when to replay, or null.').nullable(),
  failing_since: time('No delivery has arrived since then; null while deliveries succeed.').nullable(),
  paused_until: time('The end of the pause that it asked for, or null.').nullable(),
  created_at: time('When it was created.'),
};

export const endpoint = viewed<ReturnType<typeof endpointView>>()(
  z.strictObject(shape).meta({ id: 'Webhook', description: 'An endpoint that receives events.' }),
);

const withSecret = { ...shape, secret: text('What its deliveries are signed with. Shown only here.') };
const newEndpoint = viewed<ReturnType<typeof newEndpointView>>()(
  z
    .strictObject(withSecret)
    .meta({ id: 'WebhookWithSecret', description: 'A new endpoint with its secret.' }),
);
const rotatedEndpoint = viewed<ReturnType<typeof rotatedEndpointView>>()(
  z
    .strictObject({
      ...withSecret,
      former_secrets_end_at: time('When the former secrets end at the latest.'),
    })
    .meta({ id: 'RotatedWebhook', description: 'An endpoint with its new secret.' }),
);

const params = z.strictObject({ id: endpointId });

/** As of an installation that sends to public endpoints only. */
const given = { ...formShape(endpointFields(false)) };
const changes = { ...formShape(changedFields(false)) };

/** The zod types of the fields of a form that is made for each request. */
function formShape<F extends Record<string, (attribute: string) => z.ZodType>>(fields: F) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field(name)])) as {
    [K in keyof F]: ReturnType<F[K]>;
  };
}

const texts = {
  url: 'Where events are sent to: https, a public host, no user name or password.',
  events: 'The event types that it receives. Default: those that most shops need.',
  description: 'Your own text.',
};

const action = (operationId: string, done: string, summary: string, description: string): Operation => ({
  method: 'post',
  path: `/api/webhooks/{id}/${done}`,
  operationId,
  tag: 'Webhooks',
  summary,
  description,
  params,
  body: noFields,
  answers: { 200: { description: 'The endpoint.', json: saidOf(endpoint) } },
  errors: errorsOfResource,
});

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/webhooks',
    operationId: 'listWebhooks',
    tag: 'Webhooks',
    summary: 'List endpoints',
    query: pagedQuery(pageForm.schema.shape, {}),
    answers: { 200: { description: 'A page of endpoints.', json: pageOf('WebhookPage', endpoint) } },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/webhooks',
    operationId: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Create an endpoint',
    description: 'The answer shows its secret once.',
    body: { fields: documented(given, texts), required: true },
    answers: { 201: { description: 'The endpoint.', json: saidOf(newEndpoint) } },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/webhooks/{id}',
    operationId: 'getWebhook',
    tag: 'Webhooks',
    summary: 'Read an endpoint',
    params,
    answers: { 200: { description: 'The endpoint, as the body itself.', json: endpoint } },
    errors: errorsOfResource,
  },
  {
    method: 'patch',
    path: '/api/webhooks/{id}',
    operationId: 'updateWebhook',
    tag: 'Webhooks',
    summary: 'Change an endpoint',
    description: 'Fields that are not named stay.',
    params,
    body: {
      fields: documented(
        {
          url: changes.url.optional(),
          events: changes.events.optional(),
          description: changes.description,
          enabled: changes.enabled.optional(),
        },
        { ...texts, events: 'The event types that it receives.', enabled: 'Whether events are sent to it.' },
      ),
      required: true,
    },
    answers: { 200: { description: 'The endpoint.', json: saidOf(endpoint) } },
    errors: errorsOfResource,
  },
  {
    method: 'delete',
    path: '/api/webhooks/{id}',
    operationId: 'deleteWebhook',
    tag: 'Webhooks',
    summary: 'Delete an endpoint',
    description: 'Ends it immediately.',
    params,
    answers: { 200: { description: 'It is deleted.', json: z.strictObject({ message }) } },
    errors: errorsOfResource,
  },
  action('enableWebhook', 'enable', 'Enable an endpoint', 'Events from then on are sent.'),
  action(
    'disableWebhook',
    'disable',
    'Disable an endpoint',
    'Nothing more is sent, and what waits is cancelled.',
  ),
  {
    method: 'post',
    path: '/api/webhooks/{id}/rotate',
    operationId: 'rotateWebhookSecret',
    tag: 'Webhooks',
    summary: 'Get a new secret',
    description: 'The answer shows it once. At most five secrets are valid at once.',
    params,
    body: {
      fields: documented(readRotation.schema.shape, {
        overlap_hours: 'How long the former secrets stay valid; 0: they end now.',
      }),
      required: false,
    },
    answers: { 200: { description: 'The endpoint with its secret.', json: saidOf(rotatedEndpoint) } },
    errors: [...errorsOfResource, 'conflict'],
  },
  {
    method: 'post',
    path: '/api/webhooks/{id}/test',
    operationId: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Send a test event',
    description: 'To this endpoint alone, whatever its `events`.',
    params,
    body: noFields,
    answers: {
      202: {
        description: 'It is queued.',
        json: saidOf(
          z
            .strictObject({ delivery_id: deliveryId, event })
            .meta({ id: 'QueuedTest', description: 'A test event and its delivery.' }),
        ),
      },
    },
    errors: [...errorsOfResource, 'conflict'],
  },
  {
    method: 'post',
    path: '/api/webhooks/{id}/replay',
    operationId: 'replayWebhook',
    tag: 'Webhooks',
    summary: 'Send missed events again',
    description: 'Queues the events of a time range that the endpoint never got. Repeating it does no harm.',
    params,
    body: {
      fields: documented(replayForm.schema.shape, {
        from: 'The beginning of the range, at most 90 days ago.',
        to: 'Its end, which is not included.',
        events: 'Event types. Default: those of the endpoint.',
        include_delivered: 'Also queue what was delivered.',
      }),
      required: true,
    },
    answers: {
      202: {
        description: 'How many are queued.',
        json: saidOf(
          z
            .strictObject({
              queued: count('Deliveries that were queued now.'),
              already_waiting: count('Deliveries that waited already.'),
              already_delivered: count('Events that were delivered before.'),
            })
            .meta({ id: 'Replay', description: 'What a replay has queued.' }),
        ),
      },
    },
    errors: [...errorsOfResource, 'conflict', 'replay_limit'],
  },
  {
    method: 'get',
    path: '/.well-known/webhooks-public-keys/{id}',
    operationId: 'getWebhookPublicKeys',
    tag: 'Webhooks',
    summary: 'Read the public keys of an endpoint',
    description: 'Any id has keys. Where the operator has set no signing key, none has.',
    auth: 'none',
    params,
    answers: {
      200: {
        description: 'The keys.',
        json: z
          .strictObject({
            public_keys: z.array(z.string()).describe('They verify the signatures `v1a`, newest first.'),
          })
          .meta({ id: 'WebhookPublicKeys', description: 'The public keys of an endpoint.' }),
      },
    },
    errors: ['not_found', 'route_not_found'],
  },
];
