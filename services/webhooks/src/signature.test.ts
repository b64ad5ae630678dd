import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { newSecret, signatureHeaders, signingKey } from './endpoint-secrets.ts';

const now = new Date();

test('a signature verifies with each valid secret and with no other', () => {
  fc.assert(
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
    { numRuns: 30 },
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

test('a secret is whsec_ and 32 bytes in base 64', () => {
  const bytes = Buffer.from(newSecret(randomBytes).replace(/^whsec_/, ''), 'base64');
  expect(bytes).toHaveLength(32);
});
