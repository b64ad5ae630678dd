import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readTlsUrl } from './tls-url.ts';

let dir: string;
let file: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'quittance-tls-'));
  file = join(dir, 'ca.crt');
  writeFileSync(file, 'certificates');
});
afterAll(() => rmSync(dir, { recursive: true }));

test.each(['nats://ledger:secret@nats:4222', 'redis://redis:6379'])('%s asks for no TLS', (text) => {
  const { url, tls } = readTlsUrl(text);
  expect([url.href, tls]).toEqual([new URL(text).href, undefined]);
});

test.each(['tls://ledger:secret@nats:4222', 'rediss://:secret@nats:6379'])(
  '%s is verified by the name of its host, and by the authorities in a file where one is named',
  (text) => {
    expect(readTlsUrl(text).tls).toEqual({ host: 'nats', servername: 'nats' });
    const { url, tls } = readTlsUrl(`${text}?sslrootcert=${encodeURIComponent(file)}`);
    // The driver would take the parameter for one of its own.
    expect([url.href, tls]).toEqual([
      new URL(text).href,
      { host: 'nats', servername: 'nats', ca: 'certificates' },
    ]);
  },
);

test('a file that is missing is named in the error', () => {
  expect(() => readTlsUrl(`tls://nats:4222?sslrootcert=${dir}/missing.crt`)).toThrow(/missing\.crt/);
});

test.each([
  ['rediss://10.0.0.7:6379', '10.0.0.7'],
  ['tls://[::1]:4222', '::1'],
])('%s is verified by its address', (text, host) => {
  expect(readTlsUrl(text).tls).toEqual({ host });
});
