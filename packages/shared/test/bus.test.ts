import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { connect, type ServerInfo } from 'nats';
import { z } from 'zod';
import { type Bus, connectBus } from '../src/bus.ts';
import { STREAM } from '../src/bus-connection.ts';
import { separateServers } from '../src/bus-servers.ts';
import { startProvisioner } from '../src/bus-setup.ts';
import type { Service } from '../src/events.ts';
import { createLogger } from '../src/logger.ts';
import {
  type FeeEstimate,
  type FeeEstimateBoard,
  publishFeeEstimates,
  watchFeeEstimates,
} from '../src/quotes.ts';

const logger = createLogger('test', 'silent');
let nats: Awaited<ReturnType<typeof testNats>>;
const open: Bus[] = [];

beforeAll(async () => {
  nats = await testNats();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((bus) => bus.close()));
});
afterAll(() => nats.stop());

async function busOf(service: Service, own = logger): Promise<Bus> {
  const bus = await connectBus({ url: nats.url, service, logger: own });
  open.push(bus);
  return bus;
}

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

test('two servers of one name that are no cluster are told of, until there is one', async () => {
  const own = await testNats();
  const lines: string[] = [];
  let addresses = ['10.0.0.2', '10.0.0.3'];
  const provisioner = startProvisioner({
    url: own.url,
    logger: createLogger('provisioner', 'info', { write: (line) => void lines.push(line) }),
    everyMs: 20,
    addressesOf: async () => addresses,
  });
  await eventually(() => expect(lines.join()).toMatch(/2 servers of NATS are no cluster: .*without --scale/));
  addresses = ['10.0.0.2'];
  await eventually(() => expect(lines.join()).toContain('NATS is one again'));
  await provisioner.stop();
  await own.stop();
});

test('servers of a cluster may be several, and a host without a name is not two', async () => {
  const twice = async () => ['10.0.0.2', '10.0.0.3'];
  const server = { info: { cluster: 'quittance' } as ServerInfo };
  expect(await separateServers(server, 'nats://nats:4222', twice)).toBeUndefined();
  const unknown = () => Promise.reject(new Error('ENOTFOUND'));
  expect(await separateServers({}, 'nats://nats:4222', unknown)).toBeUndefined();
});

test('a question that names another place than an inbox for its answer is not answered', async () => {
  const lines: string[] = [];
  const ledger = await busOf('ledger', createLogger('test', 'error', { write: (line) => lines.push(line) }));
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

const MINUTE_MS = 60_000;

describe('the fee estimates', () => {
  let now = new Date('2026-01-02T03:04:05.000Z');
  let payouts: Bus;
  let ledger: Bus;
  let board: FeeEstimateBoard;
  beforeAll(async () => {
    payouts = await connectBus({ url: nats.url, service: 'payouts', logger });
    ledger = await connectBus({ url: nats.url, service: 'ledger', logger });
    board = watchFeeEstimates(ledger, { now: () => now }, logger);
  });
  afterAll(async () => {
    await board.stop();
    await Promise.all([payouts.close(), ledger.close()]);
  });

  const anEstimate = (other: Partial<FeeEstimate> = {}): FeeEstimate => ({
    asset: 'USDC_ERC20',
    chain: 'ethereum',
    native_cost: '1300000000000000',
    as_of: now.toISOString(),
    ...other,
  });

  test('an estimate that is told is seen, the newest of each asset, until it is too old', async () => {
    expect(board.fresh('BTC', MINUTE_MS)).toBeUndefined();
    await publishFeeEstimates(payouts, [anEstimate(), anEstimate({ asset: 'ETH', native_cost: '1' })]);
    await publishFeeEstimates(payouts, [anEstimate({ asset: 'ETH', native_cost: '2' })]);
    // The board may be connecting still: what it is told first is in no order.
    await eventually(() => {
      expect(board.fresh('ETH', MINUTE_MS)?.native_cost).toBe('2');
      expect(board.fresh('USDC_ERC20', MINUTE_MS)).toEqual(anEstimate());
    });
    const told = now;
    now = new Date(told.getTime() + MINUTE_MS);
    expect(board.fresh('ETH', MINUTE_MS)?.native_cost).toBe('2');
    now = new Date(told.getTime() + MINUTE_MS + 1);
    expect(board.fresh('ETH', MINUTE_MS)).toBeUndefined();
  });

  test('what is no estimate is passed over, and what comes after it is seen', async () => {
    const kv = await payouts.kv('fee_estimates');
    await kv.put('SOL', '{"asset":"SOL","chain":"solana","native_cost":"-1"}');
    await kv.put('SOL', 'no json');
    await publishFeeEstimates(payouts, [anEstimate({ asset: 'BTC', chain: 'bitcoin', native_cost: '3' })]);
    await eventually(() => expect(board.fresh('BTC', MINUTE_MS)?.native_cost).toBe('3'));
    expect(board.fresh('SOL', MINUTE_MS)).toBeUndefined();
  });
});

/** Where a broker keeps the messages of the stream. */
function messagesIn(dataDir: string): string {
  const [path] = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith(join('streams', STREAM, 'msgs')),
  );
  if (path === undefined) throw new Error('the broker has no stream on its disk');
  return join(dataDir, path);
}

// Last: it stops the broker.
test('who has read more than the stream still has is not kept from what comes next', async () => {
  const older = mkdtempSync(join(tmpdir(), 'quittance-older-'));
  const [invoices, ledger] = [await busOf('invoices'), await busOf('ledger')];
  const read: string[] = [];
  let over = false;
  const reading = (async () => {
    while (!over) {
      // While the broker is down, or has no durable, there is nothing to read: it is asked again until there is.
      const messages = await ledger.consume('ledger').catch(() => undefined);
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
        await invoices.publish(names.map((body) => ({ kind: 'deposit.reversed', dedupe: body, body }))),
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
    await ledger.close();
    await reading;
    rmSync(older, { recursive: true, force: true });
  }
});
