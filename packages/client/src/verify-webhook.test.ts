import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newEndpointId } from '@quittance/shared/ids';
import { createEndpointKeyPairs } from '@quittance/webhooks/endpoint-key-pairs';
import { newSecret, signatureHeaders, signingKey } from '@quittance/webhooks/endpoint-secrets';
import { WebhookVerificationError } from './errors.ts';
import { verifyWebhook } from './verify-webhook.ts';

const [secret, former, stranger] = [newSecret(randomBytes), newSecret(randomBytes), newSecret(randomBytes)];
const id = 'evt_1';
const body =
  '{"id":"evt_1","event":"invoice.paid","data":{"note":"Grüße \\u2028 😀","amount":"1.000000000000000001"}}';
const minutes = (n: number) => new Date(Date.now() + n * 60_000);
const signed = (secrets: readonly string[], at = new Date()) =>
  signatureHeaders(secrets.map(signingKey), id, at, body);
const headers = signed([secret]);
const withSignature = (change: (signature: string) => string) => ({
  ...headers,
  'webhook-signature': change(headers['webhook-signature'] ?? ''),
});
const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));

describe('a webhook', () => {
  it.each<[string, Parameters<typeof verifyWebhook>]>([
    ['as it is sent', [body, headers, secret]],
    ['in bytes', [Buffer.from(body), headers, secret]],
    ['with the headers of fetch', [body, new Headers(headers), secret]],
    [
      'with headers in capitals, and lists',
      [
        body,
        {
          'Webhook-Id': [id],
          'WEBHOOK-TIMESTAMP': headers['webhook-timestamp'],
          'Webhook-Signature': headers['webhook-signature'],
        },
        secret,
      ],
    ],
    ['four minutes late', [body, signed([secret], minutes(-4)), secret]],
    ['while the secret is changed, by the new one', [body, signed([secret, former]), secret]],
    ['while the secret is changed, by the former one', [body, signed([secret, former]), former]],
    ['by a server that knows both', [body, headers, [former, secret]]],
    ['with a signature of another kind too', [body, withSignature((s) => `v1a,AAAA v2,x ${s}`), secret]],
    [
      'that is old, to who allows it',
      [body, signed([secret], minutes(-60)), secret, { toleranceSeconds: 4_000 }],
    ],
  ])('is verified %s', async (_how, given) => {
    expect(await verifyWebhook(...given)).toEqual(JSON.parse(body));
  });

  it.each<[string, Parameters<typeof verifyWebhook>]>([
    ['with another body', [body.replace('paid', 'sold'), headers, secret]],
    ['with a space more', [`${body} `, headers, secret]],
    ['that was parsed', [JSON.parse(body), headers, secret]],
    ['by a stranger', [body, signed([stranger]), secret]],
    ['with a secret that has ended', [body, headers, former]],
    ['with no secret at all', [body, headers, []]],
    ['six minutes old', [body, signed([secret], minutes(-6)), secret]],
    ['from the future', [body, signed([secret], minutes(6)), secret]],
    [
      'with a new time',
      [body, { ...signed([secret], minutes(-6)), 'webhook-timestamp': headers['webhook-timestamp'] }, secret],
    ],
    ['under another id', [body, { ...headers, 'webhook-id': 'evt_2' }, secret]],
    ['with no time', [body, { ...headers, 'webhook-timestamp': 'soon' }, secret]],
    ['with an empty signature', [body, withSignature(() => ''), secret]],
    ['with a signature cut off', [body, withSignature((s) => s.slice(0, -2)), secret]],
    ['with a signature that is not base 64', [body, withSignature(() => 'v1,é*'), secret]],
    [
      'with the signature of a secret as that of a public key',
      [body, withSignature((s) => s.replace('v1,', 'v1a,')), secret],
    ],
    ['without an id', [body, without('webhook-id'), secret]],
    ['without a time', [body, without('webhook-timestamp'), secret]],
    ['without a signature', [body, without('webhook-signature'), secret]],
  ])('is refused %s', async (_how, given) => {
    await expect(verifyWebhook(...given)).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  it('is verified with a public key of its endpoint, and with no other', async () => {
    const pairs = () => createEndpointKeyPairs([randomBytes(32), randomBytes(32)]).of(newEndpointId());
    const [own, others] = [pairs(), pairs()];
    const keysOf = (some: typeof own) => some.map(({ publicKey }) => publicKey);
    const privateKeys = own.map(({ privateKey }) => privateKey);
    const given = signatureHeaders([signingKey(secret), ...privateKeys], id, new Date(), body);
    for (const keys of [keysOf(own), keysOf(own).slice(1), [...keysOf(others), ...keysOf(own)], secret])
      expect(await verifyWebhook(body, given, keys)).toEqual(JSON.parse(body));
    for (const keys of [keysOf(others), []])
      await expect(verifyWebhook(body, given, keys)).rejects.toThrow('No signature matches.');
    await expect(verifyWebhook(`${body} `, given, keysOf(own))).rejects.toThrow('No signature matches.');
  });

  it('is never verified with what is no secret', async () => {
    for (const wrong of [undefined, '', 'whsec_', 'secret', 'whsec_*', 'whpk_'])
      await expect(verifyWebhook(body, headers, wrong)).rejects.toThrow('give the secret of the endpoint');
  });
});
