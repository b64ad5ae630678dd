import { accessAnswers, send } from '@quittance/shared/http-answers';
import type { EndpointId } from '@quittance/shared/ids';
import type { Express } from 'express';
import type { Ports } from '../ports.ts';

const idForm = /^whe_[0-9a-z]{36}$/;

/** The public keys of an endpoint, for everybody. They are derived from its id, so nothing tells whether it exists. */
export function routePublicKeys(app: Express, { keyPairs }: Pick<Ports, 'keyPairs'>): void {
  app.get('/.well-known/webhooks-public-keys/:id', ({ params: { id } }, res) => {
    if (keyPairs === undefined || !idForm.test(id)) return send(res, accessAnswers('Webhook').not_found);
    const public_keys = keyPairs.of(id as EndpointId).map(({ publicKey }) => publicKey);
    send(res, { status: 200, body: { public_keys } });
  });
}
