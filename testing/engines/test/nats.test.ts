import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, type NatsConnection } from 'nats';
import { type NatsHandle, startNats } from '../src/nats.ts';
import { failureOf, scratchFolder } from './scratch.ts';

const scratch = scratchFolder();
const config = `
authorization { users = [
  { user: all, password: a }
  { user: some, password: s, permissions: { publish: "evt.some.>", subscribe: "_INBOX.>" } }
] }`;
let nats: NatsHandle;

beforeAll(async () => {
  nats = await startNats({ dataDir: scratch.folder, port: 0, config });
});

afterAll(async () => {
  await nats.stop();
  scratch.remove();
});

async function connected<T>(use: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: nats.url, user: 'all', pass: 'a' });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

const messages = () =>
  connected(async (connection) => {
    const streams = await connection.jetstreamManager();
    return (await streams.streams.info('EVT')).state.messages;
  });

const publish = (subject: string) =>
  connected((connection) => connection.jetstream().publish(subject, 'hello'));

test('streams survive an orderly restart and a kill, on the same port', async () => {
  await connected(async (connection) => {
    const streams = await connection.jetstreamManager();
    await streams.streams.add({ name: 'EVT', subjects: ['evt.>'] });
  });
  const { url } = nats;
  await publish('evt.a');
  await nats.restart();
  await publish('evt.b');
  nats.kill();
  await nats.restart();
  expect(await messages()).toBe(2);
  expect(nats.url).toBe(url);
});

test('the given configuration counts: nobody enters without a password', async () => {
  const entered = connect({ servers: nats.url, reconnect: false }).then((connection) => connection.close());
  await expect(entered).rejects.toThrow(/Authorization/i);
});

test('a failed start says what nats-server said', async () => {
  const started = startNats({ dataDir: `${scratch.folder}/wrong`, port: 0, config: 'no_such_field: 1' });
  expect(await failureOf(started)).toMatch(/nats-server ended while it was starting[\s\S]*no_such_field/);
});
