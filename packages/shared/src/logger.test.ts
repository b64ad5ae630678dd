import { format, inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig, serviceSettings } from './config.ts';
import { newGatewayKeys } from './gateway-keys.ts';
import { createLogger, throttledLog } from './logger.ts';
import { Secret } from './secret.ts';

const WORDS = 'the words of a wallet';

test.each<[string, (secret: Secret) => string]>([
  ['a text', (secret) => `${secret}`],
  ['JSON', (secret) => JSON.stringify({ secret, list: [secret] })],
  ['what Node prints', (secret) => inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
  ['a format', (secret) => format('%s %o %j', secret, secret, secret)],
  ['its own properties', (secret) => Object.entries({ ...secret }).join() + Object.values(secret).join()],
  ['an error', (secret) => String(new Error('no wallet', { cause: secret }).cause)],
])('a secret is not in %s', (_what, print) => {
  expect(print(new Secret(WORDS))).not.toContain(WORDS);
});

test('a secret is revealed to who asks', () => {
  expect(new Secret(WORDS).reveal()).toBe(WORDS);
});

test('a secret is in no log line, under whatever name it stands there', () => {
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
    GATEWAY_PUBLIC_KEY: newGatewayKeys().publicKey,
    PUBLIC_URL: 'https://pay.example',
  };
  const config = loadConfig('ledger', z.object(serviceSettings), env);
  expect(config.DATABASE_URL.reveal()).toBe(env.DATABASE_URL);
  expect(JSON.stringify(config) + inspect(config)).not.toContain('hunter2');
});

/** A throttled log, the lines it wrote, and the time, which stands still. */
function atHand() {
  const lines: object[] = [];
  const write = (line: string) => {
    const { level, reason, times, suppressed, msg } = JSON.parse(line);
    lines.push({ level, reason, times, suppressed, msg });
  };
  const time = { ms: 5 };
  const log = throttledLog(createLogger('test', 'info', { write }), () => time.ms);
  return {
    lines,
    time,
    fail: (reason?: string, key = 'one') => log.log('warn', key, { reason }, 'it fails'),
    end: (key = 'one') => log.ended(key, {}, 'it works again'),
  };
}

test('a throttled log logs a condition when it begins, once a minute while it lasts, and when it ends', () => {
  const { lines, time, fail, end } = atHand();
  for (let i = 0; i < 100; i++) fail(`${i}`);
  expect(lines).toEqual([{ level: 'warn', reason: '0', msg: 'it fails' }]);
  time.ms += 60_000;
  fail('later');
  fail('later still');
  expect(lines.slice(1)).toEqual([{ level: 'warn', reason: 'later', times: 100, msg: 'it fails' }]);
  end();
  expect(lines.slice(2)).toEqual([{ level: 'info', suppressed: 1, msg: 'it works again' }]);
});

test('a throttled log logs a condition that comes back at once, and no end of what never began', () => {
  const { lines, fail, end } = atHand();
  end();
  expect(lines).toEqual([]);
  fail();
  end();
  end();
  fail('again');
  expect(lines).toEqual([
    { level: 'warn', msg: 'it fails' },
    { level: 'info', msg: 'it works again' },
    { level: 'warn', reason: 'again', msg: 'it fails' },
  ]);
});

test('a throttled log logs each key by itself', () => {
  const { lines, fail, end } = atHand();
  fail('a');
  fail('b', 'other');
  end('other');
  fail('c');
  expect(lines).toEqual([
    { level: 'warn', reason: 'a', msg: 'it fails' },
    { level: 'warn', reason: 'b', msg: 'it fails' },
    { level: 'info', msg: 'it works again' },
  ]);
});
