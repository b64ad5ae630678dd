import { crashPoint } from '@quittance/shared/crash';
import { envelopeOf } from '../domain/envelope.ts';
import type { Posted } from '../domain/outcome.ts';
import type { Ports } from '../ports.ts';
import { signatureHeaders } from '../signature.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

export type Attempt = { delivery: ClaimedDelivery; startedAt: Date; ms: number; posted: Posted };

/** Signs and sends one claimed delivery, once. */
export async function attemptDelivery(
  { clock, seal, poster }: Pick<Ports, 'clock' | 'seal' | 'poster'>,
  delivery: ClaimedDelivery,
): Promise<Attempt> {
  const startedAt = clock.now();
  const start = performance.now();
  const body = envelopeOf(delivery);
  const secrets = delivery.sealedSecrets.map((sealed) => seal.open(sealed, delivery.endpointId));
  const posted = await poster.post({
    url: delivery.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Quittance-Webhooks/1',
      ...signatureHeaders(secrets, delivery.id, startedAt, body),
    },
    body,
  });
  crashPoint('webhooks.sent');
  return { delivery, startedAt, ms: Math.round(performance.now() - start), posted };
}
