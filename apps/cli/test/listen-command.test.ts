import { expect, test } from '@jest/globals';
import { verifyWebhook } from '@quittance/client';
import { startReceiver } from '@quittance/testkit/receiver';
import { listenSecret } from '../src/listen-command.ts';
import { merchantSuite } from './merchant-at.ts';

const { answers, quittance } = await merchantSuite();

test('listen posts each event to a local server as a webhook that verifies, and prints its answer', async () => {
  const shop = await startReceiver();
  const stop = new AbortController();
  const event = {
    id: 'evt_1',
    event: 'invoice.paid',
    created_at: 'x',
    sequence: 3,
    version: 1,
    data: { id: 'inv_1' },
  };
  const meta = { has_more: false, next_after: 3, first_sequence: 1, last_sequence: 3 };
  answers['GET /api/events'] = { data: [event], meta };
  answers['GET /api/events/stream'] = { status: 503, message: 'Service Unavailable' };
  shop.answer((response) => void response.writeHead(202).end());
  const args = ['listen', '--forward-to', `${shop.url}/hook`, '--after', '2'];
  const endOn = (end: AbortController) => (text: string) => {
    if (text.includes('202')) end.abort();
  };
  const { code, out } = await quittance(args, { stop: stop.signal, hear: endOn(stop) });
  expect(code).toBe(0);
  const secret = listenSecret('qt_secret');
  expect(out).toBe(`The secret of these webhooks is ${secret}\n3  invoice.paid  evt_1  → 202\n`);
  const [{ body, headers }] = shop.received as [(typeof shop.received)[number]];
  expect(await verifyWebhook(body, headers, secret)).toEqual(event);
  const stopJson = new AbortController();
  const json = await quittance([...args, '--json'], { stop: stopJson.signal, hear: endOn(stopJson) });
  const lines = json.out.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { secret },
    { event, answer: { status: 202 } },
  ]);
  await shop.close();
});

test('listen ends at once when it is told to, though the local server has not answered', async () => {
  const shop = await startReceiver();
  const stop = new AbortController();
  const data = [3, 4].map((sequence) => ({
    id: `evt_${sequence}`,
    event: 'invoice.paid',
    sequence,
    data: {},
  }));
  const meta = { has_more: false, next_after: 4, first_sequence: 1, last_sequence: 4 };
  answers['GET /api/events'] = { data, meta };
  shop.answer(() => stop.abort());
  const args = ['listen', '--forward-to', shop.url, '--after', '2'];
  const { code, out } = await quittance(args, { stop: stop.signal });
  expect(code).toBe(0);
  expect(out).toMatch(/\n3 {2}invoice\.paid {2}evt_3 {2}→ no answer before the end\n$/);
  expect(shop.received).toHaveLength(1);
  await shop.close();
}, 5_000);
