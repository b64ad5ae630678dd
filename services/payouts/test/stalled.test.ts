import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import type { PayoutsService } from '../src/service.ts';
import { type ScriptedLedger, scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, startService, TestBoard } from './service-client.ts';

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let ledger: ScriptedLedger;
let db: Db;
const services: PayoutsService[] = [];

beforeAll(async () => {
  [database, nats] = await Promise.all([testDatabase(), testNats()]);
  ledger = await scriptedLedger(nats.url);
  db = openDb({
    url: database.adminUrl,
    schema: 'payouts',
    pool: 1,
    logger: createLogger('test', 'silent'),
  });
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await ledger?.close();
  await db?.close();
  await nats?.stop();
  await database?.drop();
});

/** A replica whose node is down. */
async function start(workers: boolean): Promise<PayoutsService> {
  const settings = environment(database.urlOf('payouts'), nats.url);
  const service = await startService(settings, { quotes: new TestBoard(), workers });
  services.push(service);
  return service;
}

const readiness = async ({ port }: PayoutsService) => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: answer.status, body: await answer.json() };
};
const stalled = async ({ port }: PayoutsService) =>
  /^quittance_payouts_stalled\{chain="ethereum"\} (\d+)$/m.exec(
    await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
  )?.[1];

it('a payout without progress shows in /readyz and in a metric until it ends', async () => {
  const first = await start(false);
  const shop = new Client(() => first);
  const address = `0x${'e1'.repeat(20)}`;
  const { status, body } = await shop.post({ asset: 'ETH', amount: '0.1', address });
  expect(status).toBe(201);
  const pendingFor = (minutes: number) =>
    db.rows(`update payouts set created_at = now() - $1::int * interval '1 minute'`, [minutes]);

  await pendingFor(29);
  const before = await start(true);
  await eventually(async () => expect(await stalled(before)).toBe('0'));
  expect((await readiness(before)).body).toEqual({ ready: true, waits_for: [] });

  await pendingFor(31);
  const service = await start(true);
  await eventually(async () => {
    expect(await readiness(service)).toMatchObject({
      status: 200,
      body: {
        ready: true,
        without: [expect.stringMatching(/^progress of 1 payouts on ethereum, the oldest of /)],
      },
    });
  });
  expect(await stalled(service)).toBe('1');

  await db.rows(`update payouts set status = 'failed', failed_reason = 'no' where id = $1`, [body.data.id]);
  await eventually(async () => {
    expect((await readiness(service)).body).toEqual({ ready: true, waits_for: [] });
  }, 30_000);
});
