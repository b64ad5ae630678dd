import { expect, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { verifyIdentity } from '@quittance/shared/identity';
import { gatewayPublicKeys } from '@quittance/testkit/api';
import { type Asked, bytesOf, newToken, openGateways, sendRaw } from './gateway-fixture.ts';
import { pathForms } from './path-forms.ts';

/** Each way to write a path is one route or none, and the service that is asked is that of the scope that was checked. */

const { url, upstream, startForAll } = await openGateways();
const gateway = await startForAll();
const shop = await newToken(url);

/** The service for which the gateway has signed the request. */
function receiverOf({ method, path, headers }: Asked): Service | undefined {
  const receivers: Service[] = ['invoices', 'payouts', 'ledger', 'webhooks'];
  const header = headers['x-quittance-identity'];
  return receivers.find(
    (receiver) =>
      typeof verifyIdentity(gatewayPublicKeys, header, { receiver, method, path }, new Date()) === 'object',
  );
}

test.each(pathForms.map((form) => [form.target, form.means ?? 'no route', form] as const))(
  'the target %s means: %s',
  async (target, _meaning, { status, means }) => {
    const answer = await sendRaw(
      gateway.port,
      bytesOf('GET', target, [`Authorization: Bearer ${shop.token}`]),
    );
    const asked = upstream.asked.map((one) => `${receiverOf(one)} ${one.path}`);
    expect({ status: answer.status, asked }).toEqual({ status, asked: means === undefined ? [] : [means] });
  },
);
