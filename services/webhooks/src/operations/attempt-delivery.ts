import { crashPoint } from '@quittance/shared/crash';
import { envelopeOf } from '../domain/envelope.ts';
import type { Posted } from '../domain/outcome.ts';
import type { Ports } from '../ports.ts';
import { signatureHeaders } from '../signature.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

export type Attempt = { delivery: ClaimedDelivery; startedAt: Date; ms: number; posted: Posted };

/** Signs and sends one claimed delivery, once. */
export async function attemptDelivery(
  { clock, poster }: Pick<Ports, 'clock' | 'poster'>,
  delivery: ClaimedDelivery,
): Promise<Attempt> {
  const startedAt = clock.now();
  const start = performance.now();
  const body = envelopeOf(delivery);
  const posted = await poster.post({
    url: delivery.endpoint.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Quittance-Webhooks/1',
      ...signatureHeaders(delivery.endpoint.secrets(), delivery.id, startedAt, body),
    },
    body,
  });
  crashPoint('webhooks.sent');
  return { delivery, startedAt, ms: Math.round(performance.now() - start), posted };
}
