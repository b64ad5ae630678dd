import { expect, test } from '@jest/globals';
import { bytesOf, newToken, openGateways, sendRaw, signedFor } from './gateway-fixture.ts';
import { pathForms } from './path-forms.ts';

/** Each way to write a path is one route or none, and the service that is asked is that of the scope that was checked. */

const { url, upstream, startForAll } = await openGateways();
const gateway = await startForAll();
const shop = await newToken(url);

test.each(pathForms.map((form) => [form.target, form.means ?? 'no route', form] as const))(
  'the target %s means: %s',
  async (target, _meaning, { status, means }) => {
    const answer = await sendRaw(
      gateway.port,
      bytesOf('GET', target, [`Authorization: Bearer ${shop.token}`]),
    );
    const asked = upstream.asked.map((one) => `${signedFor(one)[0]?.receiver} ${one.path}`);
    expect({ status: answer.status, asked }).toEqual({ status, asked: means === undefined ? [] : [means] });
  },
);
