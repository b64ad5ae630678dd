import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { connect } from 'nats';
import { z } from 'zod';
import { type Bus, connectBus, type Outgoing } from '../src/bus.ts';
import type { EventKind, Service } from '../src/events.ts';
import { createLogger } from '../src/logger.ts';

const logger = createLogger('test', 'silent');
let nats: Awaited<ReturnType<typeof testNats>>;
const open: Bus[] = [];

beforeAll(async () => {
  nats = await testNats();
});
afterAll(async () => {
  await Promise.all(open.map((bus) => bus.close()));
  await nats.stop();
});

async function busOf(service: Service): Promise<Bus> {
  const bus = await connectBus({ url: nats.url, service, logger });
  open.push(bus);
  return bus;
}

/** Collects the bodies of what a service is sent. */
async function inboxOf(service: Service): Promise<string[]> {
  const bodies: string[] = [];
  const messages = await (await busOf(service)).consume(service);
  void (async () => {
    for await (const message of messages) {
      bodies.push(message.string());
      message.ack();
    }
  })();
  return bodies;
}

test('each receiver gets its copy of an event, once, and nobody else gets one', async () => {
  const [ledger, payouts, webhooks] = await Promise.all([
    inboxOf('ledger'),
    inboxOf('payouts'),
    inboxOf('webhooks'),
  ]);
  const invoices = await busOf('invoices');
  const event = (kind: EventKind, body: string): Outgoing => ({ kind, dedupe: body, body });
  const events = [event('deposit.settled', 'one'), event('invoice.paid', 'two'), event('hold.void', 'three')];
  expect(await invoices.publish(events)).toEqual([true, true, true]);
  expect(await invoices.publish(events)).toEqual([true, true, true]);
  expect(await invoices.publish([event('deposit.reversed', 'last'), event('invoice.paid', 'last')])).toEqual([
    true,
    true,
  ]);
  await eventually(() => {
    expect(ledger).toEqual(['one', 'three', 'last']);
    expect(payouts).toEqual(['one', 'last']);
    expect(webhooks).toEqual(['two', 'last']);
  });
});

test('one that closes answers the questions it has taken', async () => {
  const asker = await busOf('payouts');
  const answerer = await connectBus({ url: nats.url, service: 'ledger', logger });
  const taken = Promise.withResolvers<void>();
  const decided = Promise.withResolvers<{ ok: boolean }>();
  answerer.answer('rpc.ledger.slow', () => {
    taken.resolve();
    return decided.promise;
  });
  await eventually(async () => {
    const known = asker.request('rpc.ledger.slow', {}, z.object({ ok: z.boolean() }), 5_000);
    await Promise.race([taken.promise, known.then(({ known }) => expect(known).toBe(true))]);
    const closing = answerer.close();
    setTimeout(() => decided.resolve({ ok: true }), 200);
    expect(await known).toEqual({ known: true, reply: { ok: true } });
    await closing;
  });
});

test('a connection that closes while NATS is down does not wait for it', async () => {
  const own = await testNats();
  const bus = await connectBus({ url: own.url, service: 'ledger', logger });
  await own.stop();
  await eventually(() => expect(bus.connected()).toBe(false));
  const start = performance.now();
  await bus.close();
  // Waiting would never end, and be cut off by the test's own limit.
  expect(performance.now() - start).toBeLessThan(patient(10_000));
});

test('a question that names another place than an inbox for its answer is not answered', async () => {
  const lines: string[] = [];
  const ledger = await connectBus({
    url: nats.url,
    service: 'ledger',
    logger: createLogger('test', 'error', { write: (line) => lines.push(line) }),
  });
  open.push(ledger);
  const asked: unknown[] = [];
  ledger.answer('rpc.ledger.elsewhere', async (body) => ({ asked: asked.push(body) }));
  const asker = await connect({ servers: nats.url });
  await eventually(() => asker.request('rpc.ledger.elsewhere', '{}'));
  asker.publish('rpc.ledger.elsewhere', '{}', { reply: 'evt.ledger.invoices.credit.recorded' });
  await eventually(() =>
    expect(lines.filter((line) => line.includes('wanted its answer elsewhere'))).toHaveLength(1),
  );
  expect(asked).toHaveLength(1);
  await asker.close();
});
