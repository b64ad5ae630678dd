import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { DUE, MINUTE, openFixture } from './fixture.ts';
import { linksOf } from './link-fixture.ts';

const { fixture, anInvoice, pay, settle } = await openFixture();
const { aLink, choose } = linksOf(fixture);

type Got = { status: number; headers: Record<string, string | string[] | undefined>; bytes: Buffer };

/** Asks without taking an encoding apart. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: fixture.service.port, path, method, headers });
    asked.on('error', reject).on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    asked.end();
  });

const page = async (id: string): Promise<{ text: string; policy: string }> => {
  const { bytes, headers } = await get(`/pay/${id}`);
  return { text: bytes.toString(), policy: String(headers['content-security-policy']) };
};
const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const scriptIn = (text: string): string => /<script>([\s\S]*)<\/script>/.exec(text)?.[1] ?? '';
const BROWSER_FILES = join(import.meta.dirname, '../src/browser');
const textsIn = (script: string) => script.match(/'[^'\n]*'|`[^`]*`/g);
const dataIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...(/<main([^>]*)>/.exec(text)?.[1] ?? '').matchAll(/ data-([\w-]+)="([^"]*)"/g)].map(
      ([, name, value]) => [name, value],
    ),
  );

test('the script of a page is at most 3,000 bytes, and the only one that its policy lets run', async () => {
  const { id } = await anInvoice();
  const { text, policy } = await page(id);
  const script = scriptIn(text);
  expect(script).toContain('EventSource');
  expect(Buffer.byteLength(script)).toBeLessThanOrEqual(3_000);
  expect(policy).toContain(`script-src '${hashOf(script)}'`);
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  expect(text.match(/<script/g)).toHaveLength(1);
  expect(Buffer.byteLength(text)).toBeLessThan(30_000);
});

test('a page without a script has a policy without one', async () => {
  const { headers } = await get('/pay/nothing');
  expect(headers['content-security-policy']).not.toMatch(/script-src|connect-src/);
});

test('only without a script does a page reload, and one that is done does neither', async () => {
  const { id, to } = await anInvoice();
  const open = (await page(id)).text;
  expect(open.replace(/<noscript>.*?<\/noscript>/g, '')).not.toContain('http-equiv="refresh"');
  expect(open).toContain('<noscript><meta http-equiv="refresh" content="5"></noscript>');
  expect(dataIn(open)).toMatchObject({
    state: 'waiting',
    refresh: '5',
    now: fixture.clock.now().toISOString(),
    events: expect.stringMatching(new RegExp(`^/pay/${id}/events\\?after=[0-9a-f]{16}$`)),
  });
  await pay(to, DUE);
  await settle();
  const done = (await page(id)).text;
  expect(dataIn(done)).toMatchObject({ state: 'paid' });
  expect(dataIn(done)).not.toHaveProperty('events');
});

test.each([
  ['ETH', (shown: string) => ({ to: shown.toLowerCase(), value: '0x2386f26fc10000', call: '0x' })],
  [
    'USDC_ERC20',
    (shown: string) => ({
      to: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
      value: '0x0',
      // transfer(address,uint256) of 25 USDC.
      call: `0xa9059cbb${shown.slice(2).toLowerCase().padStart(64, '0')}${(25_000_000).toString(16).padStart(64, '0')}`,
    }),
  ],
])(
  'a wallet of the browser is asked for exactly the rest of %s, on the right network',
  async (asset, expected) => {
    const { id, shown } = await anInvoice({ asset });
    const { text, policy } = await page(id);
    const data = dataIn(text);
    const { to = '', value, call = '' } = data;
    expect({ to: to.toLowerCase(), value, call: call.toLowerCase() }).toEqual(expected(shown));
    expect(data['chain']).toBe('0x7a69');
    const file = await get(String(data['wallet']));
    expect(file.status).toBe(200);
    expect(file.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    expect(data['wallet-hash']).toBe(hashOf(file.bytes.toString()));
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1]?.split(' ');
    expect(scripts).toEqual([
      `'${hashOf(scriptIn(text))}'`,
      `https://pay.example${data['wallet']}`,
      `'${data['wallet-hash']}'`,
    ]);
  },
);

test('after a part was paid a wallet is asked for the rest, and after all of it for nothing', async () => {
  const { id, to } = await anInvoice();
  await pay(to, DUE / 4n);
  expect(dataIn((await page(id)).text)['value']).toBe(`0x${((DUE * 3n) / 4n).toString(16)}`);
  await pay(to, (DUE * 3n) / 4n);
  const seen = await page(id);
  expect(dataIn(seen.text)).toMatchObject({ state: 'confirming' });
  expect(dataIn(seen.text)).not.toHaveProperty('wallet');
  // The network may reverse it, and the page asks for a payment again.
  expect(seen.policy).toContain('wallet-');
  await settle();
  const { text, policy } = await page(id);
  expect(dataIn(text)).toMatchObject({ state: 'paid' });
  expect(policy).not.toContain('wallet-');
});

test('the choice of the asset may load the script of wallets, which the page may need that comes after it', async () => {
  const { body } = await fixture.merchant().post('/api/invoices', { amount: 25, assets: 'all' });
  const { id } = body.data;
  const before = await page(id);
  expect(dataIn(before.text)).toMatchObject({ state: 'choosing' });
  expect(dataIn(before.text)).not.toHaveProperty('wallet');
  expect((await choose(id)).status).toBe(303);
  const { wallet, 'wallet-hash': hash } = dataIn((await page(id)).text);
  expect(before.policy).toContain(` https://pay.example${wallet} '${hash}';`);
});

/** An account whose pages a shop may frame. */
async function framedShop() {
  const shop = fixture.merchant();
  const settings = { frame_ancestors: ['https://shop.example', 'https://www.shop.example'] };
  expect((await shop.patch('/api/invoice-settings', settings)).status).toBe(200);
  return shop;
}
const told = { frames: 'https://shop.example https://www.shop.example' };

test.each(['cancelled', 'expired'])(
  'the dialog of a shop hears that a payment was %s before the choice',
  async (state) => {
    const shop = await framedShop();
    const { id } = (await shop.post('/api/invoices', { amount: 25, assets: 'all', expires_in: 30 })).body
      .data;
    if (state === 'expired') fixture.pass(30 * MINUTE);
    else expect((await shop.post(`/api/invoices/${id}/cancel`, {})).status).toBe(200);
    const data = dataIn((await page(id)).text);
    expect(data).toMatchObject({ ...told, state });
    expect(data).not.toHaveProperty('events');
  },
);

test('the dialog of a shop hears that it is too late to choose, and the page is followed to its end', async () => {
  const shop = await framedShop();
  const { id } = (await shop.post('/api/invoices', { amount: 25, assets: 'all', expires_in: 30 })).body.data;
  fixture.pass(29 * MINUTE);
  const events = expect.stringMatching(new RegExp(`^/pay/${id}/events\\?after=[0-9a-f]{16}$`));
  for (const text of [(await page(id)).text, String((await choose(id)).body)])
    expect(dataIn(text)).toMatchObject({ ...told, state: 'too_late', refresh: '30', events });
});

test('the dialog of a shop hears that a payment link has ended', async () => {
  const { link, shop } = await aLink({}, await framedShop());
  expect((await shop.post(`/api/payment-links/${link.id}/deactivate`, {})).status).toBe(200);
  const { status, bytes, headers } = await get(`/link/${link.id}`);
  expect(status).toBe(410);
  expect(dataIn(bytes.toString())).toMatchObject({ ...told, state: 'link_ended' });
  expect(headers['content-security-policy']).toContain(hashOf(scriptIn(bytes.toString())));
});

test('the dialog for shops is at most 2,000 bytes under a name that stays, and other names are unknown', async () => {
  const { status, headers, bytes } = await get('/pay/assets/modal.js');
  expect(status).toBe(200);
  expect(bytes.length).toBeLessThanOrEqual(2_000);
  expect(bytes.toString()).toContain('Quittance');
  expect(headers).toMatchObject({
    'cache-control': 'public, max-age=3600',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
  });
  expect((await get('/pay/assets/other.js')).status).toBe(404);
});

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)('the files of pages are compressed with %s for who takes it', async (encoding, decompress) => {
  const { id } = await anInvoice();
  for (const path of ['/pay/assets/modal.js', dataIn((await page(id)).text)['wallet'] ?? '']) {
    const [whole, small] = [await get(path), await get(path, { 'Accept-Encoding': encoding })];
    expect(small.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' });
    expect(decompress(small.bytes).toString()).toBe(whole.bytes.toString());
    expect(small.bytes.length).toBeLessThan(whole.bytes.length);
  }
});

test('scripts are sent without their comments, are JavaScript, and say what was written', async () => {
  const { id } = await anInvoice();
  const { text } = await page(id);
  const files = await Promise.all(
    ['/pay/assets/modal.js', dataIn(text)['wallet'] ?? ''].map((path) => get(path)),
  );
  const scripts = [scriptIn(text), ...files.map(({ bytes }) => bytes.toString())];
  for (const [at, name] of ['payment-page', 'modal', 'wallet'].entries()) {
    const [script = '', source] = [scripts[at], readFileSync(`${BROWSER_FILES}/${name}.js`, 'utf8')];
    expect(script).not.toMatch(/^\s|^\/\//m);
    expect(() => new Function(script)).not.toThrow();
    // Nothing but spaces and ends of lines has gone, and none of a text.
    const code = source.replaceAll(/^ *\/\/.*$/gm, '');
    expect(script.replaceAll(/\s/g, '')).toBe(code.replaceAll(/\s/g, ''));
    expect(textsIn(script)).toEqual(textsIn(code));
  }
});

test.each([
  ['br', 'gzip, deflate, br, zstd', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
] as const)('a page is compressed with %s for who takes it', async (encoding, accepted, decompress) => {
  const { id } = await anInvoice();
  const whole = await get(`/pay/${id}`);
  const small = await get(`/pay/${id}`, { 'Accept-Encoding': accepted });
  expect(small.headers['content-encoding']).toBe(encoding);
  for (const { headers } of [whole, small]) expect(headers['vary']).toContain('Accept-Encoding');
  expect(whole.headers['content-encoding']).toBeUndefined();
  expect(decompress(small.bytes).toString()).toBe(whole.bytes.toString());
  expect(small.bytes.length).toBeLessThan(whole.bytes.length / 2);
  // eslint-disable-next-line no-restricted-syntax -- bytes
  expect(Number(small.headers['content-length'])).toBe(small.bytes.length);
  const head = await get(`/pay/${id}`, { 'Accept-Encoding': accepted }, 'HEAD');
  expect(head.headers['content-length']).toBe(small.headers['content-length']);
  expect([head.status, head.bytes.length]).toEqual([200, 0]);
});
