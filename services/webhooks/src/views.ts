import type { LoggedEvent } from './domain/envelope.ts';
import { envelopeOf } from './domain/envelope.ts';
import type { Endpoint } from './store-endpoints.ts';

/** An endpoint as its owner sees it; the secret is never in it. */
export const endpointView = (endpoint: Endpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  events: endpoint.kinds,
  description: endpoint.description,
  enabled: endpoint.enabled,
  disabled_reason: endpoint.disabledReason,
  created_at: endpoint.createdAt.toISOString(),
});

/** The only sight of the secret there ever is. */
export const newEndpointView = (endpoint: Endpoint, secret: string) => ({
  ...endpointView(endpoint),
  secret,
});

/** An event as its webhook's body has it. */
export const eventView = (event: LoggedEvent): object => JSON.parse(envelopeOf(event)) as object;
