import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkAnswer, checkWebhook } from './documented-answers.ts';
import { localPort } from './local-port.ts';
import { merchant } from './merchant.ts';
import { startReceiver } from './receiver.ts';

/** What merchants and receivers of the suites do with answers and webhooks that the reference does not have. */

const settings = {
  ...{ currency: 'EUR', expires_in: 30, tolerance: '0.5', shop_name: 'Tea House', shop_logo: null },
  ...{ language: 'de', redirect_hosts: ['shop.example'], frame_ancestors: [] },
};
let answered: object = settings;
const server = createServer((_, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(answered));
});
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await localPort(server)}`;
});
afterAll(() => server.closeAllConnections());
afterAll(() => new Promise((resolve) => server.close(resolve)));

test('a request of a merchant fails when its answer has a field that is not documented', async () => {
  const shop = merchant(url, 'acc', 'token', 1, undefined, checkAnswer);
  answered = settings;
  expect((await shop.get('/api/invoice-settings')).body).toEqual(settings);
  answered = { ...settings, theme: 'dark' };
  await expect(shop.get('/api/invoice-settings')).rejects.toThrow('is not as documented');
});

const event = {
  id: `evt_${'0'.repeat(36)}`,
  event: 'webhook.test',
  created_at: '2026-11-25T09:30:00.000Z',
  sequence: 1,
  version: 1,
  data: { webhook_id: `whe_${'0'.repeat(36)}`, message: 'This is a test: nothing has happened.' },
};

test.each([
  ['has a field that is not documented', { ...event, theme: 'dark' }, 'is not as documented'],
  ['is of another event', { ...event, event: 'invoice.lost' }, 'is not documented'],
])('a receiver cannot be closed when a webhook %s', async (_, wrong, message) => {
  const receiver = await startReceiver(checkWebhook);
  await fetch(receiver.url, { method: 'POST', body: JSON.stringify(event) });
  await fetch(receiver.url, { method: 'POST', body: JSON.stringify(wrong) });
  await expect(receiver.close()).rejects.toThrow(message);
});

test('a receiver of documented webhooks is closed as usual', async () => {
  const receiver = await startReceiver(checkWebhook);
  await fetch(receiver.url, { method: 'POST', body: JSON.stringify(event) });
  await expect(receiver.close()).resolves.toBeUndefined();
});
