import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import { startReceiver } from '@quittance/testkit/receiver';
import { createLogger, type Logger } from './logger.ts';
import { type OpenTracer, openTracer, queuedTracer, type SpanOutcome } from './open-tracer.ts';
import { toSecret } from './secret.ts';
import { identified, ROOT, type Span, spanIdOf, traceIdOf } from './traces.ts';

const START = new Date('2026-11-27T12:00:00.250Z');
const END = new Date('2026-11-27T12:00:01.500Z');
const aSpan = (more: Partial<Span> = {}): Span => ({
  of: { is: 'invoice', id: 'inv_1' },
  name: 'deposit settled',
  kind: 'internal',
  start: START,
  end: END,
  ...more,
});

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

type Line = { level: string; message: string };

function listeningLogger(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const logger = createLogger('test', 'silent');
  for (const level of ['info', 'warn', 'error'] as const)
    logger[level] = ((_fields: object, message: string) => void lines.push({ level, message })) as never;
  return { logger, lines };
}

function counted(tracer: OpenTracer): Record<SpanOutcome, number> {
  const counts = { exported: 0, dropped: 0 };
  tracer.onCount((outcome, spans) => {
    counts[outcome] += spans;
  });
  return counts;
}

/** A tracer of a service, on a collector at this URL. */
async function tracerAt(endpoint: string, headers?: string) {
  const { logger, lines } = listeningLogger();
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    ...(headers === undefined ? {} : { OTEL_EXPORTER_OTLP_HEADERS: toSecret(headers) }),
  };
  const tracer = await openTracer('invoices', 'replica-1', settings, logger);
  ending.push(() => tracer.close());
  return { tracer, lines, counts: counted(tracer) };
}

/** Takes every request and answers none. */
async function silentServer(): Promise<string> {
  const server = createServer(() => undefined);
  ending.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await localPort(server)}`;
}

test('spans reach a collector as OTLP over HTTP, with the ids that follow from the invoice', async () => {
  const collector = await startReceiver();
  ending.push(() => collector.close());
  const { tracer, counts } = await tracerAt(collector.url, 'api-key=a%20b');
  tracer.record(() => [
    aSpan({ name: 'invoice created', step: ROOT, links: [{ is: 'payout', id: '7' }] }),
    aSpan({ attributes: { 'quittance.asset': 'ETH', 'quittance.block.height': 3 }, error: 'reverted' }),
  ]);
  await eventually(() => expect(counts).toEqual({ exported: 2, dropped: 0 }));

  const [request] = collector.received;
  expect(request).toMatchObject({ method: 'POST', path: '/v1/traces', headers: { 'api-key': 'a b' } });
  const { resource, scopeSpans } = JSON.parse(request?.body ?? '').resourceSpans[0];
  expect(resource.attributes).toEqual(
    expect.arrayContaining([
      { key: 'service.name', value: { stringValue: 'invoices' } },
      { key: 'service.instance.id', value: { stringValue: 'replica-1' } },
    ]),
  );
  const [root, settled] = scopeSpans[0].spans;
  expect(root).toMatchObject({
    traceId: traceIdOf({ id: 'inv_1' }),
    spanId: spanIdOf({ id: 'inv_1' }, ROOT),
    name: 'invoice created',
    startTimeUnixNano: `${START.getTime()}000000`,
    endTimeUnixNano: `${END.getTime()}000000`,
    attributes: [{ key: 'quittance.invoice.id', value: { stringValue: 'inv_1' } }],
    links: [{ traceId: traceIdOf({ id: '7' }), spanId: spanIdOf({ id: '7' }, ROOT) }],
    status: { code: 0 },
  });
  expect(root.parentSpanId).toBeUndefined();
  expect(settled).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId, status: { code: 2 } });
  expect(settled.attributes).toContainEqual({ key: 'quittance.asset', value: { stringValue: 'ETH' } });
});

test('the trace of an id is the beginning of its SHA-256, and a step that happens once has one span', () => {
  // printf inv_1 | sha256sum
  expect(traceIdOf({ id: 'inv_1' })).toBe('499ac94320e1ac631953104aad719c99');
  const once = aSpan({ step: 'settled dep_1' });
  expect(identified(once).spanId).toBe(identified(once).spanId);
  expect(identified(aSpan({ step: 'settled dep_2' })).spanId).not.toBe(identified(once).spanId);
  expect(identified(aSpan()).spanId).not.toBe(identified(aSpan()).spanId);
  expect(identified(aSpan({ start: END, end: START })).end).toEqual(END);
});

const dropped = 'the collector of traces takes no spans: they are dropped';

test('a collector that answers 500: spans are dropped and counted, and one line says so', async () => {
  const collector = await startReceiver();
  ending.push(() => collector.close());
  collector.answer((response) => response.writeHead(500).end());
  const { tracer, lines, counts } = await tracerAt(collector.url);
  tracer.record(() => [aSpan(), aSpan()]);
  await eventually(() => expect(counts).toEqual({ exported: 0, dropped: 2 }));
  tracer.record(() => [aSpan()]);
  await eventually(() => expect(counts.dropped).toBe(3));
  expect(lines).toEqual([{ level: 'warn', message: dropped }]);

  collector.answer((response) => response.writeHead(200).end());
  tracer.record(() => [aSpan()]);
  await eventually(() => expect(counts.exported).toBe(1));
  expect(lines.slice(1)).toEqual([{ level: 'info', message: 'the collector takes spans again' }]);
});

test('a collector that is not there: spans are dropped and counted, and one line says so', async () => {
  const { tracer, lines, counts } = await tracerAt('http://127.0.0.1:9');
  tracer.record(() => [aSpan()]);
  await eventually(() => expect(counts).toEqual({ exported: 0, dropped: 1 }), 20_000);
  expect(lines).toEqual([{ level: 'warn', message: dropped }]);
}, 30_000);

test('a collector that hangs holds up nobody, and closing does not wait for it', async () => {
  const { tracer, lines, counts } = await tracerAt(await silentServer());
  const spans = Array.from({ length: 5_000 }, () => aSpan());
  tracer.record(() => spans);
  // The queue has room for 4096.
  expect(counts.dropped).toBe(904);
  const started = performance.now();
  await tracer.close();
  expect(performance.now() - started).toBeLessThan(4_000);
  // All but the batch that is in flight.
  expect(counts).toEqual({ exported: 0, dropped: 5_000 - 512 });
  expect(lines).toEqual([{ level: 'warn', message: dropped }]);
});

test('closing sends what is waiting, and an exporter that fails to close fails nothing', async () => {
  const sent: string[] = [];
  const { logger, lines } = listeningLogger();
  const tracer = queuedTracer(
    {
      send: async (spans) => void sent.push(...spans.map(({ name }) => name)),
      close: () => Promise.reject(new Error('the last answer was 500')),
    },
    logger,
  );
  tracer.record(() => [aSpan({ name: 'last' })]);
  await tracer.close();
  expect(sent).toEqual(['last']);
  expect(lines).toEqual([{ level: 'warn', message: 'the exporter of traces did not close' }]);
});

test('a span that cannot be made is logged, and what made it goes on', async () => {
  const { logger, lines } = listeningLogger();
  const tracer = queuedTracer({ send: async () => {}, close: async () => {} }, logger);
  ending.push(() => tracer.close());
  expect(() =>
    tracer.record(() => {
      throw new Error('no such field');
    }),
  ).not.toThrow();
  expect(lines).toEqual([{ level: 'error', message: 'a span could not be made' }]);
});

test('without a collector nothing is recorded, and nothing of OpenTelemetry but its API is loaded', () => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { openTracer } = await import(${JSON.stringify(new URL('./open-tracer.ts', import.meta.url).href)});
    const isCalled = { off: false, on: false };
    const off = await openTracer('invoices', 'replica-1', {}, {});
    off.record(() => { isCalled.off = true; return []; });
    const before = loaded.filter((url) => url.includes('opentelemetry')).length;
    const on = await openTracer('invoices', 'replica-1', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, {});
    on.record(() => { isCalled.on = true; return []; });
    const after = loaded.filter((url) => url.includes('opentelemetry')).length;
    process.stdout.write(JSON.stringify({ isCalled, before, isLoaded: after > 50 }), () => process.exit(0));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect([stderr, JSON.parse(stdout)]).toEqual([
    '',
    { isCalled: { off: false, on: true }, before: 0, isLoaded: true },
  ]);
});
