import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { type Asked, newToken, openGateways, signedFor } from './gateway-fixture.ts';
import { smugglingForms } from './smuggling-forms.ts';

/** No bytes of a client become a request that another part of Quittance reads otherwise, or a request of another account. */

const { url, upstream, startForAll } = await openGateways();
const gateway = await startForAll();
const [shop, other] = [await newToken(url), await newToken(url)];

/** The statuses of all answers, until the gateway closes the connection. */
function statusesOf(bytes: string): Promise<number[]> {
  return new Promise((resolve, reject) => {
    let all = '';
    const socket = connect({ port: gateway.port, host: '127.0.0.1' }, () => socket.write(bytes, 'latin1'));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      all += chunk;
    });
    // It may be closed before all is sent.
    socket.on('error', (error) => (all === '' ? reject(error) : undefined));
    socket.on('close', () => {
      const statuses = [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);
      // eslint-disable-next-line no-restricted-syntax -- statuses
      resolve(statuses.map((status) => Number.parseInt(status, 10)));
    });
  });
}

function shown(asked: Asked): string {
  const accounts = signedFor(asked).map(({ assertion }) => assertion.identity.account);
  const names = accounts.map((one) => (one === shop.account ? 'A' : one === other.account ? 'B' : one));
  return `${names.join()} ${asked.method} ${asked.path} ${asked.body}`;
}

const forms = smugglingForms(`Authorization: Bearer ${shop.token}`, `Authorization: Bearer ${other.token}`);

test.each(forms.map((form) => [form.what, form] as const))(
  'a connection with %s is read in one way',
  async (_, { bytes, statuses, asked }) => {
    const answered = await statusesOf(bytes);
    // The requests of a connection are passed on side by side; their answers come in order.
    expect({ statuses: answered, asked: upstream.asked.map(shown).sort() }).toEqual({
      statuses,
      asked: [...asked].sort(),
    });
  },
);
