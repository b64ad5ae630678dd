import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import type { AccountId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { createPoster } from '../src/poster.ts';
import { startWorkers, type Workers } from '../src/workers.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliveriesOf,
  openStage,
  type Stage,
  type StagePorts,
  takeIn,
} from './stage.ts';

let stage: Stage;
let ports: StagePorts;
let workers: Workers;
let receiver: Receiver;
let tarPit: { server: Server; url: string };

beforeAll(async () => {
  receiver = await startReceiver();
  // Long enough to hold its slots for the whole of a test.
  stage = await openStage({ poster: createPoster({ publicOnly: false, timeoutMs: 60_000 }) });
  ports = { ...stage.ports, clock: systemClock };
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  tarPit = { server, url: `http://127.0.0.1:${(server.address() as { port: number }).port}/` };
  workers = startWorkers(ports as Parameters<typeof startWorkers>[0]);
});
afterAll(async () => {
  await workers?.stop();
  await receiver?.close();
  tarPit?.server.close();
  await stage?.close();
});

/** How long one event took to each of the good endpoints, in milliseconds. */
async function tell(account: AccountId, path: string, endpoints: number): Promise<number[]> {
  const event = anEvent({ account, resource: `inv_${Math.random()}` });
  const start = performance.now();
  await takeIn(ports, event);
  workers.kick();
  const arrived = () =>
    receiver.received.filter((one) => one.path === path && one.headers['webhook-id'] === event.id);
  const took: number[] = [];
  await eventually(
    () => {
      while (took.length < arrived().length) took.push(performance.now() - start);
      expect(took).toHaveLength(endpoints);
    },
    20_000,
    1,
  );
  return took;
}

const p95 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(0.95 * values.length)] ?? 0;

test('endpoints that hang, with a backlog, delay nobody else', async () => {
  const [alone, beside] = [anAccount(), anAccount()];
  for (const [account, path] of [
    [alone, '/alone'],
    [beside, '/beside'],
  ] as const) {
    for (let i = 0; i < 10; i++) await anEndpoint(stage.ports, account, `${receiver.url}${path}`);
  }
  const before: number[] = [];
  for (let i = 0; i < 20; i++) before.push(...(await tell(alone, '/alone', 10)));

  // Of the same account and of another one, more than they have slots for.
  const stranger = anAccount();
  const hanging = [await anEndpoint(stage.ports, beside, tarPit.url)];
  for (let i = 0; i < 10; i++) hanging.push(await anEndpoint(stage.ports, stranger, tarPit.url));
  await takeIn(
    ports,
    ...Array.from({ length: 300 }, (_, i) => anEvent({ account: stranger, resource: `s_${i}` })),
  );
  const after: number[] = [];
  for (let i = 0; i < 20; i++) after.push(...(await tell(beside, '/beside', 10)));

  const states = await deliveriesOf(stage.db, hanging[1]?.key ?? '');
  expect(states.filter(({ state }) => state === 'sending')).toHaveLength(16);
  expect(states.filter(({ state }) => state === 'waiting')).toHaveLength(284);
  // A noisy machine is allowed some milliseconds; an attempt that waits for a hanging one takes seconds.
  expect(p95(after)).toBeLessThan(2 * p95(before) + 50);
}, 120_000);

test('a claim lives as long as its sender is at it', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(stage.ports, account, tarPit.url);
  await takeIn(ports, anEvent({ account }));
  workers.kick();
  const claim = () =>
    stage.db.one<{ claim: string; claimed_until: Date }>(
      `select claim, claimed_until from deliveries where endpoint_key = $1 and state = 'sending'`,
      [key],
    );
  const first = await eventually(claim);
  const renewed = await eventually(async () => {
    const now = await claim();
    expect(now.claimed_until.getTime()).toBeGreaterThan(first.claimed_until.getTime());
    return now;
  });
  expect(renewed.claim).toBe(first.claim);
});

test('stopping gives back what hangs, for another replica to send at once', async () => {
  const before = await stage.db.rows(`select 1 from deliveries where state = 'sending'`);
  expect(before.length).toBeGreaterThan(0);
  const start = performance.now();
  await workers.stop();
  expect(performance.now() - start).toBeLessThan(8_000);
  expect(await stage.db.rows(`select 1 from deliveries where state = 'sending'`)).toHaveLength(0);
  expect(await stage.db.rows(`select 1 from attempts where failure is not null`)).toHaveLength(0);
}, 30_000);
