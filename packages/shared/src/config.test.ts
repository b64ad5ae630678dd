import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, loadConfig, serviceSettings } from './config.ts';
import { newGatewayKeys } from './gateway-keys.ts';

const schema = z.object(serviceSettings);
const right = {
  PORT: '8401',
  DATABASE_URL: 'postgres://u:p@localhost:5432/q',
  NATS_URL: 'nats://localhost:4222',
  GATEWAY_PUBLIC_KEY: newGatewayKeys().publicKey,
  PUBLIC_URL: 'http://localhost:8400/',
};

test('a right configuration is read, with its defaults', () => {
  expect(loadConfig('ledger', schema, { ...right, LOG_LEVEL: '' })).toMatchObject({
    PORT: 8401,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    PUBLIC_URL: 'http://localhost:8400',
  });
});

test('every problem is named at once, and no value is printed', () => {
  const wrong = {
    ...right,
    PORT: '99999',
    NATS_URL: 'http://x',
    GATEWAY_PUBLIC_KEY: 'hunter2',
    PUBLIC_URL: undefined,
  };
  let message = '';
  try {
    loadConfig('ledger', schema, wrong);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    message = (error as Error).message;
  }
  for (const name of ['PORT', 'NATS_URL', 'GATEWAY_PUBLIC_KEY', 'PUBLIC_URL: is required']) {
    expect(message).toContain(name);
  }
  expect(message).not.toContain('hunter2');
});

test('a setting that is missing because of another one says so', () => {
  const needy = schema.superRefine((_given, context) =>
    context.addIssue({ code: 'custom', path: ['SMTP_HOST'], message: 'is required with SMTP_PORT' }),
  );
  expect(() => loadConfig('ledger', needy, right)).toThrow('SMTP_HOST: is required with SMTP_PORT');
});

test('a setting’s name of the former release is read, unless the present name is given', () => {
  const asked = schema.extend({ GRACE_PERIOD_SECONDS: z.coerce.number().default(60) });
  const former = { ...right, PATIENCE_SECONDS: '90' };
  expect(loadConfig('auditor', asked, former).GRACE_PERIOD_SECONDS).toBe(90);
  expect(loadConfig('auditor', asked, { ...former, GRACE_PERIOD_SECONDS: '5' }).GRACE_PERIOD_SECONDS).toBe(5);
});

test('a required setting that is new says how an .env of the former release gets it', () => {
  const { GATEWAY_PUBLIC_KEY: _, ...former } = { ...right, IDENTITY_SECRET: 's'.repeat(32) };
  expect(() => loadConfig('ledger', schema, former)).toThrow(
    'GATEWAY_PUBLIC_KEY: is required since this release: docs/install.md, section Upgrade, says how',
  );
  const payouts = schema.extend({ CLAIM_LINKS_SECRET: z.string() });
  expect(loadConfig('payouts', payouts, { ...right, IDENTITY_SECRET: 'of claim links' })).toMatchObject({
    CLAIM_LINKS_SECRET: 'of claim links',
  });
});

test('what ends a process on purpose is refused in production', () => {
  const armed = { ...right, CRASH_AT: 'payouts.signed:1' };
  expect(loadConfig('payouts', schema, armed)).toMatchObject({ CRASH_AT: 'payouts.signed:1' });
  expect(() => loadConfig('payouts', schema, { ...armed, NODE_ENV: 'production' })).toThrow(
    'CRASH_AT: is for tests, and NODE_ENV is production',
  );
});
