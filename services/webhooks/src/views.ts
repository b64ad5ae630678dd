import { deliveryIdOf } from './domain/delivery.ts';
import { envelopeOf, type LoggedEvent } from './domain/envelope.ts';
import type { LoggedDelivery } from './store/delivery-log.ts';
import type { Endpoint } from './store/endpoints.ts';

/** An endpoint of the API. It never contains the secret. */
export const endpointView = (endpoint: Endpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  events: endpoint.eventTypes,
  description: endpoint.description,
  enabled: endpoint.enabled,
  disabled_reason: endpoint.disabledReason,
  disabled_at: endpoint.disabledAt?.toISOString() ?? null,
  missed_since: endpoint.missedSince?.toISOString() ?? null,
  failing_since: endpoint.failingSince?.toISOString() ?? null,
  paused_until: endpoint.pausedUntil?.toISOString() ?? null,
  created_at: endpoint.createdAt.toISOString(),
});

/** A new endpoint with its secret, which is shown only once. */
export const newEndpointView = (endpoint: Endpoint, secret: string) => ({
  ...endpointView(endpoint),
  secret,
});

/** An endpoint with its new secret, and when the former secrets end at the latest. */
export const rotatedEndpointView = (endpoint: Endpoint, secret: string, formerUntil: Date) => ({
  ...newEndpointView(endpoint, secret),
  former_secrets_end_at: formerUntil.toISOString(),
});

/** A delivery with its latest attempts. */
export const deliveryView = (delivery: LoggedDelivery) => ({
  id: deliveryIdOf(delivery.endpointId, delivery.eventId),
  webhook_id: delivery.endpointId,
  event: {
    id: delivery.eventId,
    event: delivery.kind,
    // eslint-disable-next-line no-restricted-syntax -- a sequence number, below 2^53 as in JSON
    sequence: Number(delivery.sequence),
    created_at: delivery.eventCreatedAt.toISOString(),
  },
  status: delivery.state,
  next_attempt_at: delivery.state === 'waiting' ? delivery.dueAt.toISOString() : null,
  attempts: delivery.attempts.map((attempt) => ({
    ...attempt,
    started_at: new Date(attempt.started_at).toISOString(),
  })),
});

/** An event as in the body of its webhook. */
export const eventView = (event: LoggedEvent): object => JSON.parse(envelopeOf(event)) as object;
