import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from '@jest/globals';
import { localPort } from '@quittance/testkit/local-port';
import { type HtmlPage, html, page } from './html.ts';
import { textsOf } from './page-texts/texts.ts';
import { compressedOf, encodingOf, sendCompressed, sendPage } from './send-page.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

type Got = { headers: Record<string, string | string[] | undefined>; bytes: Buffer };

/** A page as a browser gets it. */
const sent = (given: HtmlPage, headers: Record<string, string> = {}): Promise<Got> =>
  answered((res) => sendPage(res, given), headers);

async function answered(send: (res: ServerResponse) => void, headers: Record<string, string>): Promise<Got> {
  const server = createServer((_req, res) => send(res));
  servers.push(server);
  const port = await localPort(server);
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, headers, agent: false });
    asked.on('error', reject).on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(chunks) }));
    });
    asked.end();
  });
}

const plain = page('A page', html`<h1>Hello</h1>`, { texts: textsOf('en'), language: 'en' });

test('nobody may frame a page unless it names origins, which the policy alone says', async () => {
  const { headers } = await sent(plain);
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['x-frame-options']).toBe('DENY');
  const origins = ['https://shop.example', 'https://www.shop.example'];
  const framed = await sent({ ...plain, frameAncestors: origins });
  expect(framed.headers['content-security-policy']).toContain(`frame-ancestors ${origins.join(' ')}`);
  expect(framed.headers).not.toHaveProperty('x-frame-options');
  const none = await sent({ ...plain, frameAncestors: [] });
  expect(none.headers['x-frame-options']).toBe('DENY');
});

test('no script runs on a page without one, and nothing is loaded', async () => {
  const policy = String((await sent(plain)).headers['content-security-policy']);
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src 'none'/);
  expect(policy).not.toMatch(/script-src|connect-src/);
});

test('the logo of a shop is the only picture that a page may show', async () => {
  const { headers } = await sent({ ...plain, hasLogo: true });
  expect(headers['content-security-policy']).toContain('; img-src data:;');
});

test('a page of whoever has signed in is not compressed', async () => {
  const taking = { 'Accept-Encoding': 'gzip, br' };
  const given = await sent({ ...plain, isPrivate: true }, taking);
  expect(given.headers).not.toHaveProperty('content-encoding');
  expect(given.bytes.toString()).toBe(plain.html);
  const other = await sent(plain, { 'Accept-Encoding': 'gzip' });
  expect(gunzipSync(other.bytes).toString()).toBe(plain.html);
  expect([given, other].map(({ headers }) => headers['vary'])).toEqual([
    'Accept-Language',
    'Accept-Language, Accept-Encoding',
  ]);
});

test('a file that was compressed before is sent as it is kept, in the encoding that the client takes', async () => {
  const file = { identity: Buffer.from('text'), br: Buffer.from('text by br'), gzip: Buffer.from('by gzip') };
  for (const encoding of ['identity', 'br', 'gzip'] as const) {
    const taking = { 'Accept-Encoding': encoding };
    const { headers, bytes } = await answered((res) => sendCompressed(res, 200, file), taking);
    expect(bytes).toEqual(file[encoding]);
    expect(headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding);
    expect(headers['content-length']).toBe(String(file[encoding].length));
  }
});

test('each form of a file that is compressed once has the whole text', () => {
  const text = 'naïve '.repeat(1_000);
  const { identity, br, gzip } = compressedOf(text);
  expect([identity, brotliDecompressSync(br), gunzipSync(gzip)].map(String)).toEqual([text, text, text]);
  expect(br.length + gzip.length).toBeLessThan(identity.length);
});

test.each([
  ['', undefined],
  ['identity', undefined],
  ['deflate, zstd', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['BR ; q=0.2', 'br'],
  ['gzip;q=0.000, br; q=0', undefined],
  ['x-gzip, brotli', undefined],
])('to who takes "%s" a page is sent as %s', (accepted, encoding) => {
  expect(encodingOf(accepted)).toBe(encoding);
});

test('of what a client takes 200 characters are read, and of these only what is whole', () => {
  const before = `${'identity, '.repeat(19)}zip, `;
  expect(before).toHaveLength(195);
  expect([`${before}gzip,br`, `${before}br;q=0`, `gzip, ${before}`].map(encodingOf)).toEqual([
    'gzip',
    undefined,
    'gzip',
  ]);
});

test('16,000 spaces inside what a client takes are read in a moment', () => {
  const accepted = `br${' '.repeat(16_000)}x`;
  // Time of the processor: others may want it too.
  const times = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage();
    expect(encodingOf(accepted)).toBeUndefined();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  expect(times.sort((a, b) => a - b)[4]).toBeLessThan(20);
});
