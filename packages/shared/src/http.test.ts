import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from './clock.ts';
import { authenticated, createApp, finishApp, type Listening, listen, send } from './http.ts';
import { IDENTITY_HEADER, sealIdentity } from './identity.ts';
import type { AccountId } from './ids.ts';
import { createLogger } from './logger.ts';

const secret = 'a secret of more than thirty-two characters';
let server: Listening;
let base: string;

beforeAll(async () => {
  const logger = createLogger('test', 'silent');
  const app = createApp({ logger, clock: systemClock, waitsFor: async () => [] });
  app.get('/api/mine', authenticated(secret, systemClock), (_req, res) =>
    send(res, { status: 200, body: { mine: true } }),
  );
  finishApp(app, logger);
  server = await listen(app, '127.0.0.1', 0);
  base = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.close(1_000));

const sealedAgo = (ms: number) => ({
  [IDENTITY_HEADER]: sealIdentity(secret, { account: 'acc_1' as AccountId }, new Date(Date.now() - ms)),
});

test('a request that was held up on its way is not begun: 503, as its client has a right token', async () => {
  expect((await fetch(`${base}/api/mine`, { headers: sealedAgo(9_000) })).status).toBe(200);
  const late = await fetch(`${base}/api/mine`, { headers: sealedAgo(13_000) });
  expect([late.status, await late.json()]).toEqual([503, { message: 'Service Unavailable' }]);
  expect(late.headers.get('retry-after')).not.toBeNull();
});
