import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openGateways } from './gateway-fixture.ts';

/** The reference of the API, which needs no token. */

const { startForAll } = await openGateways();
const gateway = await startForAll();
const url = `http://127.0.0.1:${gateway.port}/api/openapi.json`;
const reference = readFileSync(join(import.meta.dirname, '../openapi.json'));

test('the reference is served without a token, byte for byte, and may be cached', async () => {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await answer.text()).toBe(reference.toString('utf8'));
});

test('a client that has the reference is answered 304 without a body', async () => {
  const etag = (await fetch(url)).headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await fetch(url, { headers: { 'if-none-match': known } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  }
  expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
});

test('HEAD has the headers of the reference alone', async () => {
  const head = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(String(reference.length));
});

test('the reference is sent compressed to who takes Brotli', async () => {
  const ask = (encoding: string) => fetch(url, { headers: { 'accept-encoding': encoding } });
  const [whole, compressed] = [await ask('identity'), await ask('gzip, br')];
  expect([whole, compressed].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'br']);
  expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
  // eslint-disable-next-line no-restricted-syntax -- lengths
  const [all, less] = [whole, compressed].map(({ headers }) => Number(headers.get('content-length')));
  expect(less).toBeLessThan((all ?? 0) / 5);
  expect(await compressed.text()).toBe(await whole.text());
});
