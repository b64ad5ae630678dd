import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newEndpointId } from '@quittance/shared/ids';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { createEndpointKeyPairs, readSigningKeys } from './endpoint-key-pairs.ts';
import { newSecret, signatureHeaders, signingKey } from './endpoint-secrets.ts';

const now = new Date();

test('a signature verifies with each valid secret and with no other', async () => {
  await assertProperty(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const body = JSON.stringify({ text });
      const [current, former, foreign] = [
        newSecret(randomBytes),
        newSecret(randomBytes),
        newSecret(randomBytes),
      ];
      const headers = signatureHeaders([current, former].map(signingKey), 'evt_1', now, body);
      expect(new Webhook(current).verify(body, headers)).toEqual({ text });
      expect(new Webhook(former).verify(body, headers)).toEqual({ text });
      expect(() => new Webhook(foreign).verify(body, headers)).toThrow();
      expect(() => new Webhook(current).verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow();
    }),
    { most: 30 },
  );
});

test('the example of the specification has the documented signature', () => {
  const at = new Date(1_614_265_330_000);
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(
    signatureHeaders([signingKey(secret)], 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, '{"test": 2432232314}'),
  ).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

const newSigningKey = () => `whsk_${randomBytes(32).toString('base64')}`;
const pairsOf = (setting: string) => createEndpointKeyPairs(readSigningKeys(setting) ?? []);

/** Verifies as a receiver that knows the public key alone. */
function isSignedFor(publicKey: string, headers: Record<string, string>, body: string): boolean {
  const x = Buffer.from(publicKey.replace('whpk_', ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  const signatures = (headers['webhook-signature'] ?? '').split(' ').map((one) => one.split(',', 2));
  return signatures.some(
    ([version, text = '']) => version === 'v1a' && verify(null, signed, key, Buffer.from(text, 'base64')),
  );
}

test('a v1a signature verifies with the public key of its endpoint and with no other', () => {
  const [newest, former] = [newSigningKey(), newSigningKey()];
  const [endpoint, other] = [newEndpointId(), newEndpointId()];
  const pairs = pairsOf(`${newest}, ${former}`);
  const body = '{"text":"Grüße"}';
  const secret = newSecret(randomBytes);
  const keys = [signingKey(secret), ...pairs.of(endpoint).map(({ privateKey }) => privateKey)];
  const headers = signatureHeaders(keys, 'evt_1', now, body);
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1a,\S{88} v1a,\S{88}$/);
  // Who knows the secret alone is not disturbed by the other signatures.
  expect(new Webhook(secret).verify(body, headers)).toEqual({ text: 'Grüße' });

  const publicKeys = pairs.of(endpoint).map(({ publicKey }) => publicKey);
  expect(publicKeys).toEqual(
    [newest, former].flatMap((one) => pairsOf(one).of(endpoint)[0]?.publicKey ?? []),
  );
  for (const publicKey of publicKeys) {
    expect(isSignedFor(publicKey, headers, body)).toBe(true);
    expect(isSignedFor(publicKey, headers, `${body} `)).toBe(false);
    expect(isSignedFor(publicKey, { ...headers, 'webhook-id': 'evt_2' }, body)).toBe(false);
  }
  for (const { publicKey } of pairs.of(other)) expect(isSignedFor(publicKey, headers, body)).toBe(false);
});

test('a signing key is whsk_ and 32 bytes, or 64 with the public key, in base 64', () => {
  const seed = randomBytes(32);
  const [short, long] = [seed, Buffer.concat([seed, randomBytes(32)])].map(
    (bytes) => `whsk_${bytes.toString('base64')}`,
  );
  expect(readSigningKeys(`${short},${long}`)).toEqual([seed, seed]);
  for (const wrong of [
    '',
    'whsk_',
    `${short},`,
    `${short}x`,
    short?.slice(5),
    short?.replace('whsk', 'whsec'),
  ]) {
    expect(readSigningKeys(wrong ?? '')).toBeUndefined();
  }
});
