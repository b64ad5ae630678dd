import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { CONFIRMATIONS, type OnStack } from '../on-stack.ts';
import { type DashboardPerson, dashboardPerson, goTo, openAs } from '../person.ts';

/** What a merchant sets for the customers and the server of the shop, and what others may do with the pages. */

const SCRIPT = '<img src=x onerror="window.isTaken=true">';
/** Before it is asked for once more. */
const REPLAYED_WITHIN_MS = 2_000;
const SENT_AGAIN_WITHIN_MS = 20_000;
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

type Made = { id: string; url: string; amount: string; address: { address: string } };

export function shopCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  let owner: DashboardPerson;
  let receiver: Receiver;
  /** Somebody else's page, which is whatever a test writes. */
  let foreign: Server;
  let foreignUrl = '';
  let foreignPage = '';
  beforeAll(async () => {
    foreign = createServer((_req, res) => {
      res.setHeader('Content-Type', 'text/html');
      res.end(`<!doctype html><title>Foreign</title><link rel="icon" href="data:,">${foreignPage}`);
    });
    receiver = await startReceiver(checkWebhook);
    quittance = stack();
    // The same host, so that the browser sends cookies there: only the origin is another.
    foreignUrl = `http://${new URL(quittance.url).hostname}:${await localPort(foreign)}`;
    shop = await quittance.merchant();
    owner = await dashboardPerson(quittance, shop, 'Sam');
  });
  afterAll(async () => {
    foreign?.closeAllConnections();
    foreign?.close();
    await receiver?.close();
  });

  async function see(path: string): Promise<Visit> {
    const visit = await open(quittance.url);
    await openAs(visit, quittance, owner, path);
    return visit;
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  async function save(page: Page): Promise<void> {
    const answered = page.waitForResponse((response) => response.request().method() !== 'GET');
    await button(page, 'Save').click();
    expect((await answered).ok()).toBe(true);
    // What was saved before may still be told.
    await page.getByText('The settings are saved').last().waitFor();
  }
  async function invoice(order: object = {}): Promise<Made> {
    const answer = await shop.post('/api/invoices', { asset: 'ETH', amount: 25, ...order });
    expect(answer.status).toBe(201);
    return answer.body.data;
  }

  test('the name and the logo of the settings are on the page of a payment, and no SVG is', async () => {
    const { page } = await see('/shop');
    await page.getByLabel('Name of the shop').fill('Sam’s Teas & Co.');
    const choose = (name: string, mimeType: string, buffer: Buffer) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer });
    await choose('logo.svg', 'image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    await page.getByText('SVG is refused').waitFor();
    expect(await page.getByAltText('The logo').count()).toBe(0);
    // It says that it is a picture, and is none.
    await choose('logo.png', 'image/png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    await page.getByText('The browser cannot read this picture').waitFor();
    await choose('logo.png', 'image/png', Buffer.from(PNG, 'base64'));
    await page.getByAltText('The logo').waitFor();
    await save(page);

    const { url } = await invoice({ description: 'Two teas' });
    const { page: customer } = await open(url);
    await customer.goto(url);
    await customer.getByText('Sam’s Teas & Co.').waitFor();
    const logo = await customer.evaluate<{ src: string; width: number }>(
      `(({ src, naturalWidth: width }) => ({ src, width }))(document.querySelector('header img'))`,
    );
    expect(logo).toEqual({ src: expect.stringMatching(/^data:image\/png;base64,/), width: 1 });
  });

  test('a script in the name of the shop, a description, a reference or metadata is shown as a text', async () => {
    const { page } = await see('/shop');
    await page.getByLabel('Name of the shop').fill(SCRIPT);
    await save(page);
    const texts = { description: `Tea ${SCRIPT}`, external_id: `order ${SCRIPT}` };
    const { id, url } = await invoice({ ...texts, metadata: { [`<b>key`]: SCRIPT } });
    const { page: customer } = await open(url);
    await customer.goto(url);
    await customer.getByText(SCRIPT, { exact: true }).first().waitFor();
    await customer.getByText(texts.description).waitFor();
    await goTo(page, `/invoices/${id}`);
    await page.getByRole('heading', { name: texts.external_id }).waitFor();
    await page.getByText('<b>key', { exact: true }).waitFor();
    for (const one of [page, customer]) expect(await one.evaluate('window.isTaken')).toBeUndefined();
    await goTo(page, '/shop');
    await page.getByLabel('Name of the shop').fill('');
    await save(page);
  });

  test('customers are sent back to the hosts of the settings alone', async () => {
    const { page, expectProblem } = await see('/shop');
    expectProblem(/404/);
    const hosts = page.getByRole('combobox', { name: 'Hosts that customers are sent back to' });
    await hosts.fill('shop.example');
    await hosts.press('Enter');
    await save(page);
    for (const foreignHost of [
      'https://evil.example/shop.example',
      'https://shop.example.evil.example/',
      'https://shop.example@evil.example/',
    ]) {
      const refused = await shop.post('/api/invoices', {
        asset: 'ETH',
        amount: 25,
        succeed_url: foreignHost,
      });
      expect([foreignHost, refused.status]).toEqual([foreignHost, 422]);
    }
    const { id, url } = await invoice({ timeout_url: 'https://shop.example/basket' });
    expect((await shop.post(`/api/invoices/${id}/cancel`, {})).status).toBe(200);
    const { page: customer } = await open(url);
    await customer.goto(`${url}?redirect=https://evil.example&timeout_url=https://evil.example`);
    await customer.getByText('Cancelled').first().waitFor();
    const hostsLinked = await customer.evaluate<string[]>('[...document.links].map(({ host }) => host)');
    expect(hostsLinked).toEqual(['shop.example']);
    // What looks like another host behind our own stays with us.
    for (const path of ['//evil.example/', '/dashboard//evil.example/', '/dashboard/%2F%2Fevil.example']) {
      await page.goto(`${quittance.url}${path}`);
      expect(new URL(page.url()).origin).toBe(new URL(quittance.url).origin);
    }
    await shop.patch('/api/invoice-settings', { redirect_hosts: [] });
  });

  test('a foreign page shows neither the dashboard nor a payment in a frame', async () => {
    const { url } = await invoice();
    for (const framed of [`${quittance.url}/dashboard/payouts/new`, url, `${quittance.url}/docs`]) {
      const { page, expectProblem } = await open(foreignUrl);
      expectProblem(/^other origin/);
      expectProblem(/frame-ancestors/);
      expectProblem(/ERR_BLOCKED_BY_RESPONSE/);
      foreignPage = `<iframe src="${framed}"></iframe>`;
      await page.goto(foreignUrl, { waitUntil: 'load' });
      const [frame] = page.frames().slice(1);
      expect(frame?.url()).toMatch(/^chrome-error:/);
    }
  });

  test('a foreign page does nothing in the name of somebody who has signed in, and reads nothing', async () => {
    const visit = await see('/security');
    const page = await visit.page.context().newPage();
    const order = JSON.stringify({ asset: 'ETH', amount: 25, external_id: 'forged' });
    foreignPage = `<form method="post" enctype="text/plain" action="${quittance.url}/api/invoices"><input name='${order.slice(0, -1)},"a":"' value='"}'></form>`;
    await page.goto(foreignUrl);
    const asked = (how: object) =>
      page.evaluate<string>(
        `fetch('${quittance.url}/api/invoices', { credentials: 'include', ...${JSON.stringify(how)} }).then(({ type, status }) => type + ' ' + status, String)`,
      );
    expect(await asked({})).toMatch(/^TypeError/);
    expect(
      await asked({ method: 'POST', body: order, headers: { 'content-type': 'application/json' } }),
    ).toMatch(/^TypeError/);
    expect(await asked({ method: 'POST', body: order, mode: 'no-cors' })).toBe('opaque 0');
    await page.evaluate('document.forms[0].submit()');
    await page.waitForURL(`${quittance.url}/api/invoices`);
    expect((await shop.get('/api/invoices?external_id=forged')).body.data).toEqual([]);
    await visit.page.reload();
    await visit.page.getByRole('button', { name: /account and sign-out/ }).waitFor();
  });

  const kinds = () => receiver.received.map(({ body }) => JSON.parse(body).event as string);
  const ofKind = (kind: string) => receiver.received.filter((_, i) => kinds()[i] === kind);

  test('an endpoint is added with a secret that is shown once, tested, and its deliveries are read and sent again', async () => {
    const { page } = await see('/webhooks');
    await button(page, 'Add an endpoint').click();
    await page.getByLabel('URL').fill(`${receiver.url}/hook`);
    await button(page, 'Add').click();
    const shown = page.getByText(/^whsec_[\w+/=]+$/);
    const secret = (await shown.textContent()) ?? '';
    await button(page, 'I have kept it').click();
    await shown.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: `${receiver.url}/hook` }).waitFor();
    expect(await page.content()).not.toContain(secret);

    await button(page, 'Test').click();
    await eventually(() => expect(kinds()).toEqual(['webhook.test']));
    const [first] = receiver.received;
    new Webhook(secret).verify(first?.body ?? '', first?.headers as Record<string, string>);
    const row = (event: string) => page.getByRole('row').filter({ hasText: event });
    await row('webhook.test').getByText('delivered').waitFor();

    receiver.answer((response, { body }) => {
      const isPaid = JSON.parse(body).event === 'invoice.paid';
      response.writeHead(isPaid ? 503 : 200).end(isPaid ? 'closed for <b>tea</b>' : '');
    });
    const { address, amount } = await invoice();
    await quittance.ethereum.pay('ETH', address.address, amount);
    await quittance.ethereum.mine(CONFIRMATIONS + 1);
    await row('invoice.paid').getByText('answered 503').waitFor();
    // After five seconds it is sent again by itself, which a click would meet; after that not for five minutes.
    await eventually(() => expect(ofKind('invoice.paid')).toHaveLength(2), SENT_AGAIN_WITHIN_MS);
    receiver.answer((response) => response.writeHead(200).end());
    await row('invoice.paid').getByRole('button', { name: /^Open/ }).click();
    const details = page.getByRole('dialog', { name: 'Delivery' });
    await details.getByText('closed for <b>tea</b>').first().waitFor();
    const [sent] = ofKind('invoice.paid');
    const payload = await details.getByText('"event": "invoice.paid"').textContent();
    expect(JSON.parse(payload ?? '')).toEqual(JSON.parse(sent?.body ?? ''));
    const failed = ofKind('invoice.paid').length;
    await details.getByRole('button', { name: 'Send again' }).click();
    await eventually(() => expect(ofKind('invoice.paid').length).toBeGreaterThan(failed));
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });
    await row('webhook.test').getByRole('button', { name: /^Open/ }).click();
    await details.getByRole('button', { name: 'Send again' }).click();
    await eventually(() =>
      expect(ofKind('webhook.test').map(({ headers }) => headers['webhook-id'])).toEqual([
        first?.headers['webhook-id'],
        first?.headers['webhook-id'],
      ]),
    );
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });

    const before = receiver.received.length;
    // What happened in this very second is of the next replay.
    await eventually(async () => {
      await button(page, 'Replay').click();
      const dialog = page.getByRole('dialog', { name: 'Replay events' });
      await dialog.getByLabel('Also what was delivered before').check();
      await dialog.getByRole('button', { name: 'Replay' }).click();
      // The cross in its corner has the same name.
      await dialog.getByText('Close', { exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await eventually(() => expect(kinds().slice(before)).toContain('invoice.paid'), REPLAYED_WITHIN_MS);
    });
    for (const { headers, body } of receiver.received)
      new Webhook(secret).verify(body, headers as Record<string, string>);
  });
}
