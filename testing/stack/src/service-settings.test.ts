import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type Service, services } from '@quittance/shared/events';
import { type GatewaySigningKey, readPublicKeys, readSigningKey } from '@quittance/shared/gateway-keys';
import { signIdentity, verifyIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { portsFrom } from './ports.ts';
import { sandboxSecrets } from './secrets.ts';
import { serviceSettings } from './service-settings.ts';

/** The environment of each service, as a stack starts it. */
function environments() {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-settings-'));
  try {
    return serviceSettings({
      ports: portsFrom(8_400),
      secrets: sandboxSecrets(dir),
      publicUrl: 'http://pay.example',
      adminUrl: 'postgres://admin:of-the-admin@127.0.0.1/quittance',
      busUrl: (service) => `nats://${service}:of-the-bus@127.0.0.1`,
      redisUrl: undefined,
      pricesFile: '/prices.json',
      mailFolder: '/mails',
      chains: { node: {}, addresses: {}, hotWallets: {}, assets: ['ETH'] },
      began: new Date(),
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
const environment = environments();

/** Every key that the bytes of a setting could be: as they stand, after a prefix, and decoded. */
function keysIn(text: string): GatewaySigningKey[] {
  const parts = [text, ...text.split(/[_,:@/ ]/)];
  const forms = parts.flatMap((part) => [
    ...(['utf8', 'hex', 'base64', 'base64url'] as const).map((form) => Buffer.from(part, form)),
  ]);
  const seeds = forms
    .filter(({ length }) => length >= 32)
    .map((bytes) => bytes.subarray(0, 32).toString('base64url'));
  return [text, ...seeds.map((seed) => `gwsk_${seed}`)].flatMap((key) => readSigningKey(key) ?? []);
}

const request = { receiver: 'payouts', method: 'POST', path: '/api/payouts' } as const;
const keys = readPublicKeys(environment.payouts['GATEWAY_PUBLIC_KEY'] ?? '') ?? new Map();

/** Whether payouts believes an assertion that is made from something in the environment of a service. */
const canAssert = (service: Service): boolean =>
  Object.values(environment[service])
    .flatMap(keysIn)
    .flatMap((key) => [key, ...[...keys.keys()].map((id) => ({ ...key, id }))])
    .some((key) => {
      const identity = { account: 'acc_other' as AccountId };
      const header = signIdentity(key, identity, { ...request, body: Buffer.alloc(0) }, new Date());
      return verifyIdentity(keys, header, request, new Date()) !== undefined;
    });

test('the environment of no service but the gateway’s lets it assert whose request it is', () => {
  expect(keys.size).toBe(1);
  expect(services.filter(canAssert)).toEqual(['gateway']);
});
