import { describe, expect, test } from '@jest/globals';
import { type Deviation, softwareAuthenticator } from '@quittance/testkit/software-authenticator';
import { challengeIn, signingOptions, verifyCreated } from './passkey-ceremonies.ts';

const ownOrigin = 'https://pay.example';
const options = { challenge: 'AAAA', rp: { id: 'pay.example' }, user: { id: 'BBBB' } };
const created = (given: Deviation = {}) => softwareAuthenticator(ownOrigin).create(options, given);
const verify = (given: Deviation) => verifyCreated(created(given), { challenge: 'AAAA', ownOrigin });

describe('the attestation of a new passkey', () => {
  test('may be of the passkey itself, as browsers let it through, and must be right then', async () => {
    expect(await verify({ attestation: 'self' })).toMatchObject({ ok: true });
    const statement = new Map<string, number | Buffer>([
      ['alg', -7],
      ['sig', Buffer.alloc(70)],
    ]);
    expect(await verify({ attestation: { format: 'packed', statement } })).toMatchObject({ ok: false });
  });

  test.each(['packed', 'tpm', 'android-key', 'apple', 'fido-u2f'])(
    'of the kind %s is refused unread when it has a certificate',
    async (format) => {
      const statement = new Map([['x5c', [Buffer.from('a certificate')]]]);
      const refusal = 'it has a certificate of its device';
      expect(await verify({ attestation: { format, statement } })).toEqual({ ok: false, refusal });
    },
  );
});

test('a challenge is read from what the browser says, and from nothing else', () => {
  const { response, ...credential } = created();
  const read = (text: string) => {
    const clientDataJSON = Buffer.from(text).toString('base64url');
    return challengeIn({ ...credential, response: { ...response, clientDataJSON } });
  };
  expect(challengeIn(created())).toBe('AAAA');
  expect(read('{"challenge":"AAAA"}')).toBe('AAAA');
  for (const text of ['', 'a', 'null', '{}', '{"challenge":1}', '{"challenge":"AAAA","crossOrigin":true}'])
    expect(read(text)).toBeUndefined();
});

test('the host name of a passkey is that of the public URL, without its port', async () => {
  expect((await signingOptions('http://localhost:8080', [])).rpId).toBe('localhost');
});
