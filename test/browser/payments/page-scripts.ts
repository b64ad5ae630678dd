import { createServer, type Server, type ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import { pageAssets, pageScript, walletScript } from '@quittance/invoices/page-scripts';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import type { Page } from 'playwright-core';

/** What the scripts of the payment page do with a page that changes, without a stack: the test is the server. */

const TEXTS = { copy: 'Copy', copied: 'Copied' };
const PAYMENT = { chain: '0x1', to: '0xaa', value: '0x64', call: '0x' };
const OF_WALLET = {
  wallet: walletScript.path,
  'wallet-hash': walletScript.hash,
  'wallet-pay': 'Pay with {wallet}',
  'wallet-asked': 'Please confirm',
  'wallet-sent': 'It was sent',
  'wallet-unsure': 'Look into it',
  'wallet-failed': 'It failed',
};

export function pageScriptCases(open: Open): void {
  let server: Server;
  let url: string;
  let main = '';
  let streams: ServerResponse[] = [];
  beforeAll(async () => {
    server = createServer(({ url: path = '' }, res) => {
      if (path === '/events') {
        streams.push(res.writeHead(200, { 'content-type': 'text/event-stream' }));
        res.write('retry: 10\n\n');
        return;
      }
      const isScript = path === OF_WALLET.wallet;
      res.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
      if (isScript) res.end(walletSource());
      else if (path === '/shop') res.end('<!doctype html><title>Shop</title><iframe src="/pay"></iframe>');
      else if (path === '/thanks') res.end('<!doctype html><title>Thanks</title>');
      else res.end(main);
    });
    url = `http://127.0.0.1:${await localPort(server)}`;
  });
  beforeEach(() => {
    streams = [];
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** What the server shows from now on. */
  function shows(body: string, data: Record<string, string> = {}): void {
    const all = { state: 'waiting', now: new Date().toISOString(), refresh: '300', ...TEXTS, ...data };
    const attributes = Object.entries(all).map(([name, value]) => ` data-${name}="${value}"`);
    main = `<!doctype html><title>Pay</title><link rel="icon" href="data:,"><main${attributes.join('')}>${body}</main>
      <p id="voice"></p><script>${pageScript().text}</script>`;
  }

  async function see(): Promise<Visit> {
    const visit = await open(url);
    await visit.page.goto(`${url}/pay`);
    return visit;
  }

  /** The server shows something else, and says so to the page. */
  async function changes(page: Page, title: string, body: string, data?: Record<string, string>) {
    shows(`<h1>${title}</h1>${body}`, { events: '/events', ...data });
    await eventually(() => expect(streams.length).toBeGreaterThan(0));
    for (const stream of streams) stream.write('data: changed\n\n');
    await page.getByRole('heading', { name: title }).waitFor();
  }

  test('keeps open what was opened, and the focus on it', async () => {
    const code = '<details><summary>Show the code</summary><p>Code</p></details>';
    shows(`<h1>First</h1>${code}`, { events: '/events' });
    const { page } = await see();
    const summary = page.locator('summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Code', { exact: true }).waitFor({ state: 'visible' });
    await changes(page, 'Second', code);
    expect(await page.getByText('Code', { exact: true }).isVisible()).toBe(true);
    expect(await page.locator(':focus').textContent()).toBe('Show the code');
    await page.keyboard.press('Enter');
    await changes(page, 'Third', code);
    expect(await page.getByText('Code', { exact: true }).isVisible()).toBe(false);
  });

  test('says for a moment that a text was copied, and not where the browser does not let it', async () => {
    shows('<h1>Pay</h1><p class="copy">0.01</p>');
    const { page } = await see();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = page.getByRole('button', { name: 'Copy 0.01' });
    await button.click();
    await eventually(async () => expect(await button.textContent()).toBe('Copied'));
    await eventually(async () => expect(await button.textContent()).toBe('Copy'));
    await page.evaluate(`navigator.clipboard.writeText = () => {
      window.isAsked = true;
      return Promise.reject(new Error('refused'));
    }`);
    await button.click();
    expect(await page.evaluate('window.isAsked')).toBe(true);
    expect(await button.textContent()).toBe('Copy');
  });

  const NOTE = '<h1>Expired</h1><p data-seconds="10">You are taken back</p>';

  test('leads away after the seconds of the note, also from a page that is followed', async () => {
    shows(NOTE, { events: '/events', redirect: '/thanks' });
    const { page } = await open(url);
    await page.clock.install();
    await page.goto(`${url}/pay`);
    await page.clock.runFor(9_000);
    expect(page.url()).toBe(`${url}/pay`);
    await page.clock.runFor(2_000);
    await page.waitForURL(`${url}/thanks`);
  });

  test('leads away from no page that has come to say something else', async () => {
    shows(NOTE, { events: '/events', redirect: '/thanks' });
    const { page } = await open(url);
    await page.clock.install();
    await page.goto(`${url}/pay`);
    await changes(page, 'Too late', '');
    await page.clock.runFor(60_000);
    expect(page.url()).toBe(`${url}/pay`);
  });

  test('says in a frame of a shop nothing of being taken back, where nobody is', async () => {
    shows(NOTE, { redirect: '/thanks', frames: url });
    const { page } = await open(url);
    await page.goto(`${url}/shop`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Expired' }).waitFor();
    expect(await frame.getByText('You are taken back').count()).toBe(0);
  });

  /** A page with a wallet of the browser, which answers the questions of a method when the test says so. */
  async function withWallet(): Promise<Page> {
    const { page } = await open(url);
    await page.addInitScript(`(() => {
      window.asked = [];
      window.answers = {};
      const provider = {
        request: ({ method }) => new Promise((result, fail) => {
          window.asked.push(method);
          window.answers[method] = { result, fail };
          if (method === 'eth_chainId') result('0x1');
        }),
      };
      const detail = Object.freeze({ info: { uuid: '1', name: 'Purse' }, provider });
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      addEventListener('eip6963:requestProvider', announce);
      announce();
    })();`);
    await page.goto(`${url}/pay`);
    return page;
  }
  const pay = (value: string) => ({ ...OF_WALLET, ...PAYMENT, value });
  const LINK = '<a class="button" href="#">Open</a>';
  const asked = (page: Page) => page.evaluate<string[]>('window.asked');
  const noteOf = (page: Page) => page.locator('.wallets p').textContent();

  test('has a wallet send nothing that the page does not ask for any more', async () => {
    shows(`<h1>All</h1>${LINK}`, { events: '/events', ...pay('0x64') });
    const page = await withWallet();
    await page.getByRole('button', { name: 'Pay with Purse' }).click();
    await page.locator('.wallets').getByText('Please confirm').waitFor();
    await changes(page, 'The rest', LINK, pay('0x32'));
    // What was said is of the payment before.
    await eventually(async () => expect(await noteOf(page)).toBe(''));
    await page.evaluate(`window.answers.eth_requestAccounts.result(['0xbb'])`);
    await eventually(async () => expect(await asked(page)).toContain('eth_chainId'));
    expect(await asked(page)).not.toContain('eth_sendTransaction');
    expect(await noteOf(page)).toBe('');
    await page.getByRole('button', { name: 'Pay with Purse' }).click();
    await page.evaluate(`window.answers.eth_requestAccounts.result(['0xbb'])`);
    await eventually(async () => expect(await asked(page)).toContain('eth_sendTransaction'));
  });

  test('says of a payment only what a wallet has said of it', async () => {
    shows(`<h1>All</h1>${LINK}`, { events: '/events', ...pay('0x64') });
    const page = await withWallet();
    await page.getByRole('button', { name: 'Pay with Purse' }).click();
    await page.evaluate(`window.answers.eth_requestAccounts.result(['0xbb'])`);
    await eventually(async () => expect(await asked(page)).toContain('eth_sendTransaction'));
    await changes(page, 'The rest', LINK, pay('0x32'));
    await page.evaluate(`window.answers.eth_sendTransaction.result('0x1')`);
    await changes(page, 'Still the rest', LINK, pay('0x32'));
    expect(await noteOf(page)).toBe('');
    expect(await page.locator('#voice').textContent()).not.toBe('It was sent');
    await changes(page, 'All again', LINK, pay('0x64'));
    await page.locator('.wallets').getByText('It was sent').waitFor();
    expect(await page.getByRole('button', { name: 'Pay with Purse' }).isDisabled()).toBe(true);
  });
}

const walletSource = (): string => String(pageAssets.get(basename(walletScript.path))?.file.identity);
