import { deliveryIdOf } from './domain/delivery.ts';
import { envelopeOf, type LoggedEvent } from './domain/envelope.ts';
import { mailStatusOf } from './domain/mail-status.ts';
import type { LoggedDelivery } from './store/delivery-log.ts';
import type { Endpoint } from './store/endpoints.ts';
import type { MailRecipient } from './store/mail-recipients.ts';

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

/** A recipient of e-mails. It contains neither the code nor what stops the mails. */
export const mailRecipientView = (recipient: MailRecipient) => ({
  id: recipient.id,
  address: recipient.address,
  kinds: recipient.kinds,
  status: mailStatusOf(recipient),
  paused_reason: recipient.pausedReason,
  code_expires_at: recipient.codeExpiresAt?.toISOString() ?? null,
  confirmed_at: recipient.confirmedAt?.toISOString() ?? null,
  last_sent_at: recipient.lastSentAt?.toISOString() ?? null,
  last_failure: recipient.lastFailure,
  last_failed_at: recipient.lastFailedAt?.toISOString() ?? null,
  created_at: recipient.createdAt.toISOString(),
});
