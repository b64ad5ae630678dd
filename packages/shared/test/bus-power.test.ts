import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { type Bus, connectBus } from '../src/bus.ts';
import { STREAM } from '../src/bus-connection.ts';
import { createLogger } from '../src/logger.ts';

/** A broker that finds an older state of its stream on its disk than of those who read it. */

const logger = createLogger('test', 'silent');
let nats: Awaited<ReturnType<typeof testNats>>;
let older: string;
let [invoices, ledger]: Bus[] = [];

beforeAll(async () => {
  older = mkdtempSync(join(tmpdir(), 'quittance-older-'));
  nats = await testNats();
  invoices = await connectBus({ url: nats.url, service: 'invoices', logger });
  ledger = await connectBus({ url: nats.url, service: 'ledger', logger });
});
afterAll(async () => {
  await invoices?.close();
  await ledger?.close();
  await nats.stop();
  rmSync(older, { recursive: true, force: true });
});

/** Where a broker keeps the messages of the stream. */
function messagesIn(dataDir: string): string {
  const [path] = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith(join('streams', STREAM, 'msgs')),
  );
  if (path === undefined) throw new Error('the broker has no stream on its disk');
  return join(dataDir, path);
}

test('who has read more than the stream still has is not kept from what comes next', async () => {
  const read: string[] = [];
  let over = false;
  const reading = (async () => {
    while (!over) {
      // While the broker is down, or has no durable, there is nothing to read: it is asked again until there is.
      const messages = await ledger?.consume('ledger').catch(() => undefined);
      try {
        for await (const message of messages ?? []) {
          read.push(message.string());
          message.ack();
        }
      } catch {
        // The durable has gone: it is there again.
      }
    }
  })();
  const publish = (from: number, to: number) => {
    const names = Array.from({ length: to - from }, (_, i) => `${from + i}`);
    return eventually(async () =>
      expect(
        await invoices?.publish(names.map((body) => ({ kind: 'deposit.reversed', dedupe: body, body }))),
      ).not.toContain(false),
    );
  };
  try {
    await publish(0, 50);
    await nats.stop();
    const messages = messagesIn(nats.dataDir);
    cpSync(messages, older, { recursive: true });
    await nats.restart();
    await publish(50, 200);
    await eventually(() => expect(read).toContain('199'));
    await nats.stop();
    rmSync(messages, { recursive: true });
    cpSync(older, messages, { recursive: true });
    await nats.restart();
    await publish(200, 210);
    await eventually(() => {
      for (let n = 200; n < 210; n++) expect(read).toContain(`${n}`);
    });
  } finally {
    over = true;
    await ledger?.close();
    await reading;
  }
});
