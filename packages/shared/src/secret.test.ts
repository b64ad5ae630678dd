import { format, inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig, serviceSettings } from './config.ts';
import { createLogger } from './logger.ts';
import { Secret } from './secret.ts';

const WORDS = 'the words of a wallet';

test.each<[string, (secret: Secret) => string]>([
  ['a text', (secret) => `${secret}`],
  ['JSON', (secret) => JSON.stringify({ secret, list: [secret] })],
  ['what Node prints', (secret) => inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
  ['a format', (secret) => format('%s %o %j', secret, secret, secret)],
  ['its own properties', (secret) => Object.entries({ ...secret }).join() + Object.values(secret).join()],
  ['an error', (secret) => String(new Error('no wallet', { cause: secret }).cause)],
])('is not in %s', (_what, print) => {
  expect(print(new Secret(WORDS))).not.toContain(WORDS);
});

test('is revealed to who asks', () => {
  expect(new Secret(WORDS).reveal()).toBe(WORDS);
});

test('is in no log line, under whatever name it stands there', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
  const secret = new Secret(WORDS);
  logger.info({ whatever: secret, deep: { er: { and: { deeper: [secret] } } } }, `a ${secret}`);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain(WORDS);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ whatever: '[redacted]', msg: 'a [redacted]' });
});

test('the settings of a service that hold one can be printed as a whole', () => {
  const env = {
    PORT: '8400',
    DATABASE_URL: 'postgres://ledger:hunter2@localhost/quittance',
    NATS_URL: 'nats://ledger:hunter2@localhost:4222',
    IDENTITY_SECRET: 'hunter2'.repeat(8),
    PUBLIC_URL: 'https://pay.example',
  };
  const config = loadConfig('ledger', z.object(serviceSettings), env);
  expect(config.DATABASE_URL.reveal()).toBe(env.DATABASE_URL);
  expect(JSON.stringify(config) + inspect(config)).not.toContain('hunter2');
});
