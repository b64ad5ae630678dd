import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import { migrateService, serviceUrl } from '@quittance/shared/migrate';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import pg from 'pg';
import type { GatewayService } from '../src/service.ts';
import {
  bytesOf,
  newToken,
  sendRaw,
  startTestGateway,
  startUpstream,
  type Upstream,
} from './gateway-fixture.ts';

/** A Postgres of its own, because it is killed. */

let postgres: PostgresHandle;
let url: string;
let upstream: Upstream;
let gateway: GatewayService;

beforeAll(async () => {
  postgres = await startPostgres({
    dataDir: mkdtempSync(join(tmpdir(), 'quittance-gateway-')),
    port: 0,
    settings: { fsync: 'off' },
  });
  url = serviceUrl(postgres.url, 'gateway', 'test');
  upstream = await startUpstream();
  gateway = await startTestGateway(url, upstream.url, { REQUEST_TIMEOUT_MS: '1500' });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await postgres?.destroy();
});

const ask = (path: string, token = 'none') =>
  sendRaw(gateway.port, bytesOf('GET', path, [`Authorization: Bearer ${token}`]));
const unavailable = { status: 503, body: expect.objectContaining({ message: 'Service Unavailable' }) };

test('before the migrations it lives, is not ready and says what it waits for', async () => {
  expect(await ask('/healthz')).toMatchObject({ status: 200 });
  expect(await ask('/readyz')).toMatchObject({
    status: 503,
    body: { ready: false, waits_for: [expect.stringMatching(/^the database to be migrated/)] },
  });
  // A token that could be one: whose it is cannot be said, and that is not the client's fault.
  expect(await ask('/api/assets', 'qt_ggfONMs5wKYmtAesjXq2zkL0MELqyws3HXYQktIiWiQ41HYLW')).toMatchObject(
    unavailable,
  );
  expect(await ask('/api/assets', 'qt_wrong')).toMatchObject({ status: 401 });
  await migrateService({
    adminUrl: postgres.url,
    service: 'gateway',
    folder: fileURLToPath(new URL('../migrations', import.meta.url)),
    password: 'test',
  });
  await eventually(async () => expect(await ask('/readyz')).toMatchObject({ status: 200 }));
});

test('a database that hangs costs 503 in time, and nothing is asked of a service for it afterwards', async () => {
  const { token } = await newToken(url);
  expect((await ask('/api/assets', token)).status).toBe(200);
  upstream.asked.length = 0;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('begin; lock table gateway.tokens in access exclusive mode');
  const start = performance.now();
  expect(await ask('/api/assets', token)).toMatchObject(unavailable);
  expect(performance.now() - start).toBeLessThan(patient(10_000));
  await client.query('rollback');
  await client.end();
  await eventually(async () => expect((await ask('/api/assets', token)).status).toBe(200));
  expect(upstream.asked).toHaveLength(1);
});

test('a database that is killed: 503 with Retry-After, and all is well soon after it is back', async () => {
  const { token } = await newToken(url);
  const statuses = new Set<number>();
  const load = Promise.allSettled(
    Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 30; i++) statuses.add((await ask('/api/assets', token)).status);
    }),
  );
  postgres.kill();
  await eventually(async () => expect(await ask('/api/assets', token)).toMatchObject(unavailable));
  expect((await ask('/api/assets', token)).headers.get('retry-after')).toMatch(/^\d+$/);
  await eventually(async () =>
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: { waits_for: ['the database'] } }),
  );
  expect((await load).every(({ status }) => status === 'fulfilled')).toBe(true);
  expect([...statuses].filter((status) => status !== 200)).toEqual([503]);
  // What needs no database goes on.
  expect((await ask('/pay/inv_1')).status).toBe(200);
  expect((await ask('/api/nothing')).status).toBe(404);
  await postgres.restart();
  await eventually(async () => expect((await ask('/api/assets', token)).status).toBe(200));
});
