import { failpoint } from '@quittance/shared/failpoint';
import { envelopeOf } from '../domain/envelope.ts';
import type { SendResult } from '../domain/outcome.ts';
import { signatureHeaders } from '../endpoint-secrets.ts';
import type { Ports } from '../ports.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

export type Attempt = { delivery: ClaimedDelivery; startedAt: Date; ms: number; result: SendResult };

/** Signs and sends one claimed delivery, once. A delivery that cannot be signed is not sent and counts as failed. */
export async function attemptDelivery(
  { clock, sender, logger }: Pick<Ports, 'clock' | 'sender' | 'logger'>,
  delivery: ClaimedDelivery,
): Promise<Attempt> {
  const startedAt = clock.now();
  const start = performance.now();
  const keys = delivery.endpoint.keys();
  if (keys.length === 0) {
    logger.error(
      { event: delivery.id, endpoint: delivery.endpoint.endpointId },
      'none of the secrets of an endpoint can be opened: WEBHOOK_SECRETS_KEY is not the one they were encrypted with',
    );
    return { delivery, startedAt, ms: 0, result: { kind: 'failed', failure: 'not_signed' } };
  }
  const body = envelopeOf(delivery);
  const result = await sender.send({
    url: delivery.endpoint.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Quittance-Webhooks/1',
      ...signatureHeaders(keys, delivery.id, startedAt, body),
    },
    body,
  });
  failpoint('webhooks.sent');
  const ms = Math.round(performance.now() - start);
  const came = result.kind === 'answered' ? { status: result.status } : { came: result.kind };
  const { endpointId: endpoint } = delivery.endpoint;
  logger.debug({ event: delivery.id, kind: delivery.kind, endpoint, ...came, ms }, 'sent a webhook');
  return { delivery, startedAt, ms, result };
}
