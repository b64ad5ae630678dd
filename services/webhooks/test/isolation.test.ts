import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import type { AccountId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { deleteEndpoint } from '../src/operations/endpoints.ts';
import type { Ports } from '../src/ports.ts';
import { createWebhookSender } from '../src/webhook-sender.ts';
import { startWorkers } from '../src/workers.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliveriesOf,
  type Fixture,
  openFixture,
  receiveEvents,
} from './fixture.ts';

let fixture: Fixture;
let ports: Ports;
let workers: ReturnType<typeof startWorkers>;
let receiver: Receiver;
let tarPit: { server: Server; url: string; letGo(): void };

beforeAll(async () => {
  receiver = await startReceiver();
  // Longer than a test, so that its slots stay taken.
  fixture = await openFixture({ sender: createWebhookSender({ publicOnly: false, timeoutMs: 60_000 }) });
  ports = { ...fixture.ports, clock: systemClock };
  const held = new Set<Socket>();
  const server = createServer((socket) => {
    held.add(socket);
    socket.on('close', () => held.delete(socket));
    socket.on('error', () => {}).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const letGo = () => held.forEach((socket) => void socket.destroy());
  tarPit = { server, url: `http://127.0.0.1:${port}/`, letGo };
  workers = startWorkers(ports);
});
afterAll(async () => {
  await workers?.stop();
  await receiver?.close();
  tarPit?.server.close();
  await fixture?.close();
});

/** How long an event took to reach the last good endpoint, in milliseconds. */
async function tell(account: AccountId, path: string, endpoints: number): Promise<number> {
  const event = anEvent({ account, resource: `inv_${Math.random()}` });
  const start = performance.now();
  await receiveEvents(ports, event);
  workers.wake();
  const arrived = () =>
    receiver.received.filter((one) => one.path === path && one.headers['webhook-id'] === event.id);
  await eventually(() => expect(arrived()).toHaveLength(endpoints), 20_000, 1);
  return performance.now() - start;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const BACKLOG = 100;
const BLOCKS = 5;
const ROUNDS = 6;
/** An attempt that waits for a hanging one waits for a minute. Other suites share the cores in an ordinary run. */
const SLACK_MS = process.env['PROOFS'] === 'full' ? 50 : 1_500;

/** Endpoints that hang, with a backlog: one of this account, and ten of another one. @returns a function that ends them */
async function hang(beside: AccountId): Promise<() => Promise<void>> {
  const stranger = anAccount();
  const hanging = [{ account: beside, ...(await anEndpoint(fixture.ports, beside, tarPit.url)) }];
  for (let i = 0; i < 10; i++)
    hanging.push({ account: stranger, ...(await anEndpoint(fixture.ports, stranger, tarPit.url)) });
  const backlog = Array.from({ length: BACKLOG }, (_, i) =>
    anEvent({ account: stranger, resource: `s_${i}` }),
  );
  await receiveEvents(ports, ...backlog);
  workers.wake();
  return async () => {
    // They have never accepted a delivery, so each has two slots.
    const states = (await deliveriesOf(fixture.db, hanging[1]?.key ?? '')).map(({ state }) => state);
    expect(states.filter((state) => state === 'sending')).toHaveLength(2);
    expect(states.filter((state) => state === 'waiting')).toHaveLength(BACKLOG - 2);
    for (const { account, id } of hanging) await deleteEndpoint(ports, account, id);
    tarPit.letGo();
    const sending = `select 1 from deliveries where state = 'sending'`;
    await eventually(async () => expect(await fixture.db.rows(sending)).toEqual([]));
  };
}

test('endpoints that hang with a backlog delay no other endpoint', async () => {
  const account = anAccount();
  for (let i = 0; i < 10; i++) await anEndpoint(fixture.ports, account, `${receiver.url}/good`);
  await tell(account, '/good', 10);
  const [alone, beside]: [number[], number[]] = [[], []];
  // Both are measured in turns, because the speed of the machine varies.
  for (let block = 0; block < BLOCKS; block++) {
    for (let i = 0; i < ROUNDS; i++) alone.push(await tell(account, '/good', 10));
    const letGo = await hang(account);
    for (let i = 0; i < ROUNDS; i++) beside.push(await tell(account, '/good', 10));
    await letGo();
  }
  expect(median(beside)).toBeLessThan(2 * median(alone) + SLACK_MS);
});

test('a claim is renewed for as long as its attempt is in flight', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, tarPit.url);
  await receiveEvents(ports, anEvent({ account }));
  workers.wake();
  const claim = () =>
    fixture.db.one<{ claim: string; claimed_until: Date }>(
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

test('a stop releases attempts that hang, and another replica sends them at once', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, tarPit.url);
  await receiveEvents(ports, anEvent({ account }));
  workers.wake();
  await eventually(async () =>
    expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'sending' }]),
  );
  const start = performance.now();
  await workers.stop();
  expect(performance.now() - start).toBeLessThan(12_000);
  expect(await fixture.db.rows(`select 1 from deliveries where state = 'sending'`)).toHaveLength(0);
  expect(await fixture.db.rows('select 1 from attempts where endpoint_key = $1', [key])).toHaveLength(0);
});
