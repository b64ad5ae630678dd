import { expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '@quittance/shared/config';
import { newGatewayKeys } from '@quittance/shared/gateway-keys';
import { configSchema } from './config.ts';

const env = {
  PORT: '8400',
  DATABASE_URL: 'postgres://gateway@localhost/quittance',
  GATEWAY_PRIVATE_KEY: newGatewayKeys().privateKey,
  PUBLIC_URL: 'https://pay.example/',
  INVOICES_URL: 'http://invoices:8401',
  PAYOUTS_URL: 'http://payouts:8402',
  LEDGER_URL: 'http://ledger:8403',
  WEBHOOKS_URL: 'http://webhooks:8404',
};
const load = (more: Record<string, string>) => loadConfig('gateway', configSchema, { ...env, ...more });

test('the contract’s limit is the default, and nobody’s word on addresses is believed', () => {
  expect(load({})).toMatchObject({ RATE_LIMIT_PER_MINUTE: 30, GATEWAY_REPLICAS: 1, TRUSTED_PROXIES: [] });
});

test.each([
  ['', []],
  ['none', []],
  ['10.0.0.0/8, 192.0.2.1', ['10.0.0.0/8', '192.0.2.1']],
  ['loopback,2001:db8::/32', ['loopback', '2001:db8::/32']],
  ['uniquelocal fe80::/10 ::ffff:10.0.0.0/104', ['uniquelocal', 'fe80::/10', '::ffff:10.0.0.0/104']],
])('trusted proxies %j', (text, networks) => {
  expect(load({ TRUSTED_PROXIES: text }).TRUSTED_PROXIES).toEqual(networks);
});

test('every problem is named at once', () => {
  const wrong = {
    PORT: '0',
    GATEWAY_PRIVATE_KEY: newGatewayKeys().publicKey,
    REDIS_URL: 'http://redis',
    LEDGER_URL: '',
    RATE_LIMIT_PER_MINUTE: '0',
    TRUSTED_PROXIES: '10.0.0.0/33',
  };
  let problems: readonly string[] = [];
  try {
    load(wrong);
  } catch (error) {
    if (error instanceof ConfigError) problems = error.problems;
  }
  expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual(Object.keys(wrong).sort());
});

test.each([
  'all',
  '10.0.0.0/',
  '10.0.0.256',
  'proxy.example',
  '::1/129',
  '10.1',
  '10.0.0.0/-1',
  '1',
  'none, 10.0.0.1',
])('%j is no proxy to trust', (text) => {
  expect(() => load({ TRUSTED_PROXIES: text })).toThrow('TRUSTED_PROXIES: must be addresses or networks');
});
