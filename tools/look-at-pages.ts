import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@quittance/testkit/eventually';

/**
 * node tools/look-at-pages.ts URL FOLDER [PATH …]
 *
 * Opens the documents of a running Quittance in Chromium, as on a phone and on a desktop, light and dark. Writes a picture of
 * each into FOLDER, and ends with 1 when axe-core finds something, a page is wider than its window, anything is loaded from
 * another origin, or the browser reports an error such as a violation of the page's policy. CI has no browser, so nothing
 * runs this by itself. CHROMIUM names the browser, `chromium` when it is not set.
 */
const [url = '', folder = '', ...given] = process.argv.slice(2);
const WINDOWS = [
  { name: 'phone', width: 390, height: 844 },
  { name: 'desktop', width: 1280, height: 900 },
];
const SCHEMES = ['light', 'dark'];
/** The reference draws what comes into view. */
const SETTLES_MS = 1_500;
const LOADED_WITHIN_MS = 20_000;

type Message = {
  id?: number;
  method?: string;
  params?: Record<string, never>;
  result?: never;
  error?: { message: string };
};
type Tab = {
  send(method: string, params?: object): Promise<Record<string, never>>;
  /** What the browser has reported since the last call. */
  reports(): string[];
  close(): void;
};

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function openTab(port: string): Promise<Tab> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: 'PUT' });
  const { webSocketDebuggerUrl } = (await answer.json()) as { webSocketDebuggerUrl: string };
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let reported: string[] = [];
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    const report = message.method === undefined ? undefined : reportOf(message.method, message.params ?? {});
    if (report !== undefined) reported.push(report);
    const call = waiting.get(message.id ?? 0);
    if (message.error !== undefined) call?.reject(new Error(message.error.message));
    else call?.resolve(message.result as never);
  });
  const tab: Tab = {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    reports() {
      const all = reported;
      reported = [];
      return all;
    },
    close: () => socket.close(),
  };
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await tab.send(`${domain}.enable`);
  return tab;
}

function reportOf(method: string, params: Record<string, Record<string, string>>): string | undefined {
  const { entry, request, exceptionDetails } = params;
  if (method === 'Log.entryAdded' && entry?.['level'] === 'error' && !entry['url']?.endsWith('/favicon.ico'))
    return entry['text'];
  if (method === 'Runtime.exceptionThrown') return exceptionDetails?.['text'];
  const asked = method === 'Network.requestWillBeSent' ? (request?.['url'] ?? '') : '';
  return asked === '' || asked.startsWith(url) || asked.startsWith('data:') ? undefined : `loads ${asked}`;
}

async function evaluate<T>(tab: Tab, expression: string): Promise<T> {
  const answer = await tab.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  const { result } = answer as unknown as { result: { value: T } };
  return result.value;
}

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const findings = `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ target, any, all }) => id + ' ' + target.join(' ') + ': ' + ((any[0] ?? all[0])?.message ?? ''))))`;

async function look(
  tab: Tab,
  path: string,
  window: (typeof WINDOWS)[number],
  scheme: string,
): Promise<string[]> {
  const { name, width, height } = window;
  await tab.send('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: name === 'phone',
  });
  await tab.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: scheme }],
  });
  await tab.send('Page.navigate', { url: `${url}${path}` });
  await eventually(async () => {
    const isThere = `document.readyState === 'complete' && document.querySelector('h1') !== null && location.pathname === '${path}'`;
    if (!(await evaluate<boolean>(tab, isThere))) throw new Error(`${path} does not come`);
  }, LOADED_WITHIN_MS);
  await sleep(SETTLES_MS);
  const { data } = (await tab.send('Page.captureScreenshot', { format: 'png' })) as unknown as {
    data: string;
  };
  writeFileSync(
    join(folder, `${path.slice(1).replaceAll('/', '-')}-${name}-${scheme}.png`),
    Buffer.from(data, 'base64'),
  );
  await evaluate(tab, axe);
  const found = await evaluate<string[]>(tab, findings);
  const wide = await evaluate<number>(tab, 'document.documentElement.scrollWidth');
  const problems = [...found, ...tab.reports(), ...(wide > width ? [`is ${wide} pixels wide`] : [])];
  return problems.map((problem) => `${path}, ${name}, ${scheme}: ${problem}`);
}

/** All that the list of contents leads to, but for the pages of decisions. */
async function paths(): Promise<string[]> {
  const page = await (await fetch(`${url}/docs`)).text();
  const [, menu = ''] = page.split('<nav');
  const listed = [...menu.matchAll(/href="(\/docs\/[^"#]+)"/g)].map(([, path = '']) => path);
  return ['/docs', '/docs/guides', ...listed];
}

if (url === '' || folder === '') throw new Error('node tools/look-at-pages.ts URL FOLDER [PATH …]');
mkdirSync(folder, { recursive: true });
const profile = mkdtempSync(join(tmpdir(), 'quittance-look-'));
const chromium = spawn(
  process.env['CHROMIUM'] ?? 'chromium',
  [
    '--headless=new',
    '--no-sandbox',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    'about:blank',
  ],
  { stdio: 'ignore' },
);
try {
  const port = await eventually(
    () => readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n', 1)[0] ?? '',
  );
  const tab = await openTab(port);
  let problems = 0;
  const looked = given.length > 0 ? given : await paths();
  for (const path of looked)
    for (const window of WINDOWS)
      for (const scheme of SCHEMES)
        for (const problem of await look(tab, path, window, scheme)) {
          problems += 1;
          process.stdout.write(`${problem}\n`);
        }
  tab.close();
  process.stdout.write(`${looked.length} pages, ${problems} findings\n`);
  process.exitCode = problems === 0 ? 0 : 1;
} finally {
  chromium.kill();
  await sleep(500);
  rmSync(profile, { recursive: true, force: true });
}
