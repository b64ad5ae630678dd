import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { guideNames, readLibrary } from '../src/http/docs/library.ts';
import { bytesOf, openGateways, sendRaw } from './gateway-fixture.ts';

/**
 * The documents as pages: /docs, their markdown, /llms.txt and the reference of endpoints. That all files are kept by clients
 * and have no body for HEAD is in openapi.test.ts.
 */

const { start, startForAll } = await openGateways();
const gateway = await startForAll();

const ask = (path: string, headers: readonly string[] = [], method = 'GET') =>
  sendRaw(gateway.port, bytesOf(method, path, headers));

const library = readLibrary();
const documents = [...library.pages.keys()].map((path) => `/docs/${path}`);
const brotli = readFileSync(new URL('../assets/scalar.js.br', import.meta.url));
/** Each page is asked for once, however many lead to it. */
const answers = new Map<string, ReturnType<typeof ask>>();
function page(path: string): ReturnType<typeof ask> {
  const answer = answers.get(path) ?? ask(path);
  answers.set(path, answer);
  return answer;
}
const textOf = async (path: string) => (await page(path)).text;

describe('a document', () => {
  test.each(['/docs', '/docs/guides', ...documents])(
    '%s is a page that loads and runs nothing',
    async (path) => {
      const { status, headers, text } = await page(path);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain(`style-src 'sha256-${hash('sha256', style, 'base64')}'`);
      expect(text).not.toMatch(/<script|\sstyle=|\son\w+=/);
      // Pictures are our own; only what a reader clicks on may lead elsewhere.
      const loaded = [...text.matchAll(/<(?:img|link)\b[^>]*?(?:src|href)="([^"]*)"/g)].map(([, url]) => url);
      expect(loaded.filter((url) => url?.startsWith('/docs/') !== true)).toEqual([]);
      for (const picture of loaded.filter((url) => url?.endsWith('.svg')))
        expect((await page(picture ?? '')).headers.get('content-type')).toBe('image/svg+xml');
      expect(text.match(/<h1\b/g)).toHaveLength(1);
    },
  );

  test('leads to pages, anchors and files that exist', async () => {
    const anchors = new Map<string, Set<string>>();
    const anchorsOf = async (path: string) => {
      const known =
        anchors.get(path) ??
        new Set([...(await textOf(path)).matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
      anchors.set(path, known);
      return known;
    };
    const wrong: string[] = [];
    for (const from of ['/docs', '/docs/guides', ...documents]) {
      for (const [, href = ''] of (await textOf(from)).matchAll(/<a [^>]*?href="([^"]*)"/g)) {
        if (/^https?:/.test(href) || href === '/api/openapi.json') continue;
        const [path = '', anchor] = href.split('#');
        const target = path === '' ? from : path;
        const { status } = await page(target);
        const isThere = anchor === undefined || (await anchorsOf(target)).has(anchor);
        if (status !== 200 || !isThere) wrong.push(`${from}: ${href}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('is markdown beside its page, whose links to documents lead to markdown', async () => {
    const wrong: string[] = [];
    for (const path of documents) {
      const { status, headers, text } = await page(`${path}.md`);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s#]+\.md)/g)) {
        if (/^https?:/.test(target)) continue;
        const url = new URL(target, `http://x${path}.md`).pathname;
        // What is in the repository only, such as ARCHITECTURE.md.
        if (url.startsWith('/docs/') && (await page(url)).status !== 200) wrong.push(`${path}: ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('takes no other method, and a name that does not exist is a 404', async () => {
    const { status, headers } = await ask('/docs/api', [], 'POST');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    for (const path of [
      '/docs/no-such',
      '/docs/guides/no-such.md',
      '/docs/../package.json',
      '/docsx',
      '/docs/assets/x.js',
    ])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
  });

  test('counts towards the limit of public pages of its client, as the reference does', async () => {
    const limited = await start({ PAGES_PER_MINUTE: '4' });
    const statuses: number[] = [];
    for (const path of ['/docs', '/docs/api', '/llms.txt', '/api/openapi.json', '/docs', '/api/openapi.json'])
      statuses.push((await sendRaw(limited.port, bytesOf('GET', path))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  });
});

test('the list of guides has every file of their folder', () => {
  const files = globSync('docs/guides/*.md', { cwd: new URL('../../../', import.meta.url) });
  expect(files.map((file) => file.replace(/^.*\/|\.md$/g, '')).sort()).toEqual([...guideNames].sort());
});

test('llms.txt has the form of llmstxt.org, and each URL in it is markdown that exists', async () => {
  const { status, headers, text } = await ask('/llms.txt');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text).toMatch(/^# Quittance\n\n> .+\n/);
  const items = [...text.matchAll(/^- \[.+\]\((.+)\): .+$/gm)].map(([, url = '']) => url);
  expect(items.length).toBeGreaterThan(guideNames.length);
  for (const url of items) {
    expect(url).toMatch(/^http:\/\/localhost\/docs\/.+\.md$/);
    expect((await ask(new URL(url).pathname)).status).toBe(200);
  }
});

describe('the reference of endpoints', () => {
  test('loads only its own assets, and its policy allows no other origin and no inline script', async () => {
    const { status, headers, text } = await ask('/docs/reference');
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    const urls = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
    expect(urls.filter((url) => !url.startsWith('/'))).toEqual([]);
    expect(text).not.toMatch(/<script>|\son\w+=/);
    const assets = urls.filter((url) => url.startsWith('/docs/assets/'));
    expect(assets).toHaveLength(3);
    for (const url of assets) {
      const answer = await ask(url);
      expect([url, answer.status]).toEqual([url, 200]);
      expect(answer.headers.get('cache-control')).toContain('immutable');
    }
  });

  test('asks its renderer for no fonts, telemetry, proxy, client or assistant', async () => {
    const page = await textOf('/docs/reference');
    const start = await textOf(/\/docs\/assets\/start-\w+\.js/.exec(page)?.[0] ?? '');
    for (const setting of [
      "url: '/api/openapi.json'",
      'withDefaultFonts: false',
      'telemetry: false',
      "proxyUrl: ''",
      'hideClientButton: true',
      'agent: { disabled: true }',
      'mcp: { disabled: true }',
    ])
      expect(start).toContain(setting);
    expect(start).not.toMatch(/https?:/);
  });

  test('sends its renderer compressed to who takes Brotli, and whole to who does not', async () => {
    const path = /\/docs\/assets\/scalar-\w+\.js/.exec(await textOf('/docs/reference'))?.[0] ?? '';
    const whole = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      headers: { 'Accept-Encoding': 'identity' },
    });
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(whole.headers.get('content-encoding')).toBeNull();
    expect(path).toContain(hash('sha256', bytes).slice(0, 16));
    const compressed = await ask(path, ['Accept-Encoding: gzip, br'], 'HEAD');
    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    expect(compressed.headers.get('content-length')).toBe(String(brotli.length));
    expect(brotliDecompressSync(brotli).equals(bytes)).toBe(true);
  });
});
