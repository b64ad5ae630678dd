import { createServer } from 'node:http';
import { expect, it } from '@jest/globals';
import { localPort } from '@quittance/testkit/local-port';
import { path, Transport } from './transport.ts';
import { verifyWebhook } from './verify-webhook.ts';

const asked: unknown[] = [];
const refused = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('write EHOSTUNREACH'), { code: 'EHOSTUNREACH', syscall: 'write' }),
});
const failing = (error: Error) => (request: unknown) => {
  asked.push(request);
  return Promise.reject(error);
};
const transport = (fetch: unknown, more: object = {}) =>
  new Transport({
    url: 'https://pay.example',
    token: 'qt_1',
    fetch: fetch as typeof globalThis.fetch,
    ...more,
  });
const create = { method: 'POST', path: '/api/payouts', body: {}, takesKey: true } as const;

it.each(['', ' ', ' order', 'order ', 'a\nb', '付款', 'x'.repeat(256)])(
  'a request with the Idempotency-Key %j is not sent',
  async (idempotencyKey) => {
    asked.length = 0;
    const sent = transport(failing(refused)).data({ ...create, options: { idempotencyKey } });
    await expect(sent).rejects.toThrow('idempotencyKey must have 1 to 255');
    expect(asked).toEqual([]);
  },
);

it('a POST without a key is not repeated when a connection that was made breaks', async () => {
  asked.length = 0;
  const cancel = { method: 'POST', path: '/api/payouts/1/cancel' } as const;
  await expect(transport(failing(refused)).data(cancel)).rejects.toMatchObject({ code: 'broken_off' });
  expect(asked).toHaveLength(1);
});

it.each([{ token: 'qt_secret\nx' }, { token: 'qt_secret x' }, { url: 'https://me:secret@pay.example' }])(
  'the error of %j does not repeat the secret',
  (options) => {
    let message = '';
    try {
      transport(fetch, options);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('TypeError');
    expect(message).not.toContain('secret');
  },
);

it('a stream ends when its signal is aborted after it has begun', async () => {
  const silent = createServer((_request, response) => void response.writeHead(200).write('id,amount\n'));
  const controller = new AbortController();
  const port = await localPort(silent);
  const call = { method: 'GET', path: '/api/invoices', options: { signal: controller.signal } } as const;
  const reader = (
    await transport(undefined, { url: `http://127.0.0.1:${port}`, fetch: undefined, timeoutMs: 20 }).stream(
      call,
    )
  ).getReader();
  await reader.read();
  setTimeout(() => controller.abort(new Error('enough')), 60);
  await expect(reader.read()).rejects.toThrow('enough');
  silent.closeAllConnections();
  silent.close();
});

it('a tolerance that is no number lets no webhook through', async () => {
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1500000000',
    'webhook-signature': 'v1,AA==',
  };
  const verified = verifyWebhook('{}', headers, 'whsec_AAAA', { toleranceSeconds: Number.NaN });
  await expect(verified).rejects.toThrow('signed too long ago');
});

it('an id leads to no other path', () => {
  expect(path`/api/invoices/${'../payouts?x=1#'}/cancel`).toBe(
    '/api/invoices/..%2Fpayouts%3Fx%3D1%23/cancel',
  );
  for (const wrong of ['', '.', '..']) expect(() => path`/api/invoices/${wrong}`).toThrow('is no id');
});
