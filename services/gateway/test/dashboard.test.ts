import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { bytesOf, openGateways, sendRaw } from './gateway-fixture.ts';

/** The dashboard as files. What it does in a browser is tested in test/browser. */

const { startForAll } = await openGateways();
const gateway = await startForAll();

const ask = (path: string, headers: readonly string[] = [], method = 'GET') =>
  sendRaw(gateway.port, bytesOf(method, path, headers));

const built = new URL('../../../apps/dashboard/dist/assets/', import.meta.url);
const assets = readdirSync(built);

test('every path of the dashboard without a file is its document, which allows nothing but files of its own', async () => {
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/invoices/inv_1?status=paid']) {
    const { status, headers, text } = await ask(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('no-store');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
    for (const part of [
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    const loaded = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
    expect(loaded.filter((url) => url !== '/favicon.ico' && !url.startsWith('/dashboard/assets/'))).toEqual(
      [],
    );
    expect(text.match(/<script /g)).toHaveLength(1);
  }
});

test('the nonce of the document is another one for each answer', async () => {
  const nonces = await Promise.all(
    [1, 2].map(async () => {
      const { headers, text } = await ask('/dashboard');
      const nonce = /'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '')?.[1] ?? '';
      expect(text).toContain(`<script nonce="${nonce}" `);
      return nonce;
    }),
  );
  expect(nonces[0]).toMatch(/^[\w+/]{22}==$/);
  expect(nonces[0]).not.toBe(nonces[1]);
});

test('its files are kept by browsers for ever, and are sent compressed', async () => {
  const script = assets.find((name) => /^index-.*\.js$/.test(name)) ?? '';
  const whole = await ask(`/dashboard/assets/${script}`);
  expect(whole.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(whole.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const url = `http://127.0.0.1:${gateway.port}/dashboard/assets/${script}`;
  const small = await fetch(url, { headers: { 'Accept-Encoding': 'br' } });
  expect(small.headers.get('content-encoding')).toBe('br');
  expect(await small.text()).toBe(whole.text);
});

test('a path beside the built files is nothing', async () => {
  const wrong = ['missing.js', '..%2findex.html', '%2e%2e/.built.json', '.built.json', ''];
  for (const name of wrong) expect((await ask(`/dashboard/assets/${name}`)).status).toBe(404);
  expect((await ask('/dashboardx')).status).toBe(404);
  expect((await ask('/dashboard', [], 'POST')).status).toBe(405);
});

test('there is an icon, which is a picture', async () => {
  const { status, headers, text } = await ask('/favicon.ico');
  expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(text).toMatch(/^<svg /);
});

test('a browser at the address of the installation comes to the dashboard, a program learns that nothing is there', async () => {
  const browser = await ask('/', ['Accept: text/html,application/xhtml+xml']);
  expect([browser.status, browser.headers.get('location')]).toEqual([302, './dashboard/']);
  expect((await ask('/', ['Accept: application/json'])).status).toBe(404);
  expect((await ask('/')).status).toBe(404);
});

test('who signs in for the first time loads less than 250 kB', async () => {
  const { text } = await ask('/dashboard');
  const names = [...text.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]*)"/g)].map(([, url = '']) => url);
  expect(names.length).toBeGreaterThan(1);
  let bytes = Buffer.byteLength(text);
  for (const name of names) {
    const { headers } = await ask(name, ['Accept-Encoding: br']);
    // eslint-disable-next-line no-restricted-syntax -- bytes
    bytes += Number(headers.get('content-length'));
  }
  expect(bytes).toBeLessThan(250_000);
});
