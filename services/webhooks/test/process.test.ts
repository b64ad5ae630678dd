import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { createLogger } from '@quittance/shared/logger';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import type { MerchantEvent } from '../src/operations/events.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliveriesOf,
  type Fixture,
  IDENTITY_SECRET,
  openFixture,
  SECRETS_KEY,
} from './fixture.ts';

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;

let fixture: Fixture;
let nats: Awaited<ReturnType<typeof testNats>>;
let sender: Bus;
let receiver: Receiver;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  [fixture, nats, receiver] = await Promise.all([openFixture(), testNats(), startReceiver()]);
  sender = await connectBus({ url: nats.url, service: 'invoices', logger: createLogger('test', 'silent') });
});
afterEach(async () => {
  await Promise.all([...running].map(end));
  receiver.answer((response) => response.writeHead(200).end());
});
afterAll(async () => {
  await sender?.close();
  await receiver?.close();
  await nats?.stop();
  await fixture?.close();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function startProcess(
  env: Record<string, string> = {},
): Promise<{ child: ChildProcess; said: () => string; port: number }> {
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PORT: String(port),
      DATABASE_URL: fixture.database.urlOf('webhooks'),
      NATS_URL: nats.url,
      IDENTITY_SECRET,
      PUBLIC_URL: 'http://quittance.test',
      WEBHOOK_SECRETS_KEY: SECRETS_KEY,
      ALLOW_INSECURE_ENDPOINTS: 'true',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  return { child, said: () => said, port };
}

const startReady = async (env: Record<string, string> = {}) => {
  const started = await startProcess(env);
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${started.port}/readyz`);
    expect(answer.status).toBe(200);
  });
  return started;
};

async function end(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Publishes until NATS has the event, as a relay does. The first call creates the stream. */
const publish = (event: MerchantEvent) =>
  eventually(async () => {
    const message = { kind: event.kind, dedupe: event.id, body: JSON.stringify(event) };
    expect(await sender.publish([message])).toEqual([true]);
  });

test('on SIGTERM the service ends attempts in flight, exits with 0 and leaves nothing claimed', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/slow`);
  const { child } = await startReady();
  const arrived = new Promise<void>((resolve) =>
    receiver.answer((response) => {
      resolve();
      setTimeout(() => response.writeHead(200).end(), 500);
    }),
  );
  const event = anEvent({ account });
  await publish(event);
  await arrived;
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

test('a wrong configuration prevents the start, and every problem is named', async () => {
  const { child, said } = await startProcess({
    WEBHOOK_SECRETS_KEY: 'short',
    PUBLIC_URL: '',
    ALLOW_INSECURE_ENDPOINTS: 'yes',
  });
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(said()).toContain('WEBHOOK_SECRETS_KEY: must have at least 32 characters');
  expect(said()).toContain('PUBLIC_URL: is required');
  expect(said()).toContain('ALLOW_INSECURE_ENDPOINTS');
  expect(said()).not.toContain('short');
});

test('the service waits for NATS at the start, and the API answers before NATS is there', async () => {
  const { child, port, said } = await startProcess({ NATS_URL: `nats://127.0.0.1:${await freePort()}` });
  await eventually(() => expect(said()).toContain('the bus is not there yet'));
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, waits_for: ['NATS'] }]);
  expect((await fetch(`http://127.0.0.1:${port}/api/webhooks`)).status).toBe(401);
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
});
