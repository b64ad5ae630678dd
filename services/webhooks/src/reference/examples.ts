import type { Example } from '@quittance/shared/reference';
import { AT, exampleIds, examplePage, LATER } from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { endpoint } from './endpoints.ts';
import type { delivery } from './events.ts';

const { endpoint: id, event: eventId, delivery: deliveryId } = exampleIds;
const URL = 'https://shop.example/webhooks';

const exampleEndpoint: z.input<typeof endpoint> = {
  id,
  url: URL,
  events: ['invoice.paid', 'invoice.expired'],
  description: 'The shop',
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  missed_since: null,
  failing_since: null,
  paused_until: null,
  created_at: AT,
};
const withSecret = { ...exampleEndpoint, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };

const testEvent = {
  id: eventId,
  event: 'webhook.test',
  created_at: AT,
  sequence: 1207,
  version: 1,
  data: { webhook_id: id, message: 'This is a test: nothing has happened.' },
};

const exampleDelivery: z.input<typeof delivery> = {
  id: deliveryId,
  webhook_id: id,
  event: { id: eventId, event: 'invoice.paid', sequence: 1207, created_at: AT },
  status: 'waiting',
  next_attempt_at: LATER,
  attempts: [{ number: 1, started_at: AT, ms: 31, status: 503, failure: null, answer: 'busy' }],
};

const params = { id };
const said = (done: string, data: object) => ({ message: `Webhook ${done} successfully.`, data });
const disabled = { enabled: false, disabled_reason: 'Disabled by its owner.', disabled_at: LATER };

export const examples: Readonly<Record<string, Example>> = {
  listWebhooks: { query: { perPage: 10 }, answer: examplePage('/api/webhooks', exampleEndpoint) },
  createWebhook: {
    body: { url: URL, events: ['invoice.paid', 'invoice.expired'], description: 'The shop' },
    answer: said('created', withSecret),
  },
  getWebhook: { params, answer: exampleEndpoint },
  updateWebhook: {
    params,
    body: { description: 'The new shop' },
    answer: said('updated', { ...exampleEndpoint, description: 'The new shop' }),
  },
  deleteWebhook: { params, answer: { message: 'Webhook deleted successfully.' } },
  enableWebhook: { params, answer: said('enabled', exampleEndpoint) },
  disableWebhook: { params, answer: said('disabled', { ...exampleEndpoint, ...disabled, missed_since: AT }) },
  rotateWebhookSecret: {
    params,
    body: { overlap_hours: 1 },
    answer: said('secret rotated', { ...withSecret, former_secrets_end_at: LATER }),
  },
  testWebhook: { params, answer: said('test queued', { delivery_id: deliveryId, event: testEvent }) },
  replayWebhook: {
    params,
    body: { from: '2026-11-24T00:00:00Z', to: '2026-11-25T00:00:00Z' },
    answer: {
      message: 'Replay queued successfully.',
      data: { queued: 3, already_waiting: 0, already_delivered: 12 },
    },
  },
  getWebhookPublicKeys: {
    params,
    answer: { public_keys: ['whpk_3NLAmvSQKBbyzqxYNGrKxWtk4tcCrpwcXZ7tL0EoGYc='] },
  },
  listDeliveries: {
    params,
    query: { limit: 20 },
    answer: { data: [exampleDelivery], meta: { has_more: false, next_before: null } },
  },
  getDelivery: { params: { id: deliveryId }, answer: exampleDelivery },
  redeliver: {
    params: { id: deliveryId },
    answer: { message: 'Delivery queued successfully.', data: exampleDelivery },
  },
  listEvents: {
    query: { after: 0, limit: 100 },
    answer: {
      data: [testEvent],
      meta: { has_more: false, next_after: 1207, first_sequence: 1, last_sequence: 1207 },
    },
  },
  streamEvents: { query: { after: 0 } },
  getEvent: { params: { id: eventId }, answer: testEvent },
};
