import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { systemClock } from './clock.ts';
import type { Db } from './db.ts';
import { createApp, finishApp, nameRoute } from './http.ts';
import { send } from './http-answers.ts';
import { type Listening, listen } from './http-server.ts';
import { createLogger } from './logger.ts';
import { createMetrics, type DatabaseGauge, formerMetrics, type Metrics } from './metrics.ts';

let lines: string[] = [];
const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
const open: Listening[] = [];
afterEach(async () => {
  lines = [];
  await Promise.all(open.splice(0).map((one) => one.close(0)));
});

async function served(app: ReturnType<typeof createApp>): Promise<string> {
  finishApp(app, logger);
  const listening = await listen(app, '127.0.0.1', 0);
  open.push(listening);
  return `http://127.0.0.1:${listening.port}`;
}

const db = { close: async () => undefined } as Db;
const metricsOf = (gauges: readonly DatabaseGauge[], cachedMs?: number): Metrics =>
  createMetrics({ logger, db, gauges, ...(cachedMs === undefined ? {} : { cachedMs }) });
const gauge = (name: string, read: DatabaseGauge['read'], labels?: readonly string[]): DatabaseGauge => ({
  name: `quittance_${name}`,
  help: name,
  read,
  ...(labels === undefined ? {} : { labels }),
});
/** The lines with values of ours, without those that help people. */
const samples = async (metrics: Metrics) =>
  (await metrics.text()).split('\n').filter((line) => /^quittance_(?!http)/.test(line));

test('however often it is scraped, the database is asked once in five seconds', async () => {
  let asked = 0;
  const metrics = metricsOf([gauge('asked', async () => [{ value: ++asked }])]);
  await Promise.all([metrics.text(), metrics.text()]);
  expect(await samples(metrics)).toEqual(['quittance_asked 1']);
});

test('samples that are no more are no more shown', async () => {
  let states = ['signed', 'mined'];
  const read = async () => states.map((state, i) => ({ state, value: i + 1 }));
  const metrics = metricsOf([gauge('payouts', read, ['state'])], 0);
  expect(await samples(metrics)).toEqual([
    'quittance_payouts{state="signed"} 1',
    'quittance_payouts{state="mined"} 2',
  ]);
  states = ['mined'];
  expect(await samples(metrics)).toEqual(['quittance_payouts{state="mined"} 1']);
});

test('a renamed gauge is there under its former name too, with its former labels and its former meaning', async () => {
  const metrics = metricsOf([
    gauge('reconciliation_checked_timestamp_seconds', async () => [{ scope: 'recent', value: 5 }], ['scope']),
  ]);
  metrics.gauge({ name: 'quittance_rate_limit_redis_up', help: 'up', look: () => [{ value: 1 }] });
  expect((await samples(metrics)).sort()).toEqual([
    'quittance_books_checked_timestamp_seconds{extent="recent"} 5',
    'quittance_rate_limit_redis_up 1',
    'quittance_reconciliation_checked_timestamp_seconds{scope="recent"} 5',
    'quittance_redis_away 0',
  ]);
});

test('the glossary lists every former metric', () => {
  const glossary = readFileSync(new URL('../../../docs/glossary.md', import.meta.url), 'utf8');
  const listed = [...glossary.matchAll(/^\| `(quittance_\w+)(?:\{\w+\})?` \| `(quittance_\w+)/gm)];
  expect(listed.map(([, former, present]) => `${former} ${present}`).sort()).toEqual(
    Object.entries(formerMetrics)
      .map(([present, former]) => `${former?.name} ${present}`)
      .sort(),
  );
});

test('a question that fails costs its own gauge, which is said and is no zero; others are told', async () => {
  let isBroken = false;
  const broken = gauge('broken', async () => {
    if (isBroken) throw new Error('no such table');
    return [{ value: 7 }];
  });
  const metrics = metricsOf([broken, gauge('whole', async () => [{ value: 1 }])], 0);
  expect(await samples(metrics)).toEqual(['quittance_broken 7', 'quittance_whole 1']);
  isBroken = true;
  expect(await samples(metrics)).toEqual(['quittance_whole 1']);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 'warn', metric: 'quittance_broken', reason: 'no such table' }),
  ]);
});

test('a database that says nothing holds up no scrape, and nothing old is told for new', async () => {
  let answer: () => void = () => undefined;
  let hangs = false;
  const slow = gauge('slow', async () => {
    if (hangs) await new Promise<void>((resolve) => (answer = resolve));
    return [{ value: 1 }];
  });
  const metrics = metricsOf([slow, gauge('whole', async () => [{ value: 1 }])], 0);
  expect(await samples(metrics)).toHaveLength(2);
  hangs = true;
  expect(await samples(metrics)).toEqual(['quittance_whole 1']);
  hangs = false;
  answer();
  expect(await samples(metrics)).toHaveLength(2);
});

test('a counter has all its values from the beginning', async () => {
  const metrics = metricsOf([]);
  const refused = metrics.counter(
    { name: 'quittance_refused_total', help: 'refused' },
    { limit: ['token', 'page'], route: ['a', 'b'] },
  );
  refused({ limit: 'page', route: 'a' });
  refused({ limit: 'page', route: 'a' }, 1.5);
  expect(await samples(metrics)).toEqual([
    'quittance_refused_total{limit="token",route="a"} 0',
    'quittance_refused_total{limit="token",route="b"} 0',
    'quittance_refused_total{limit="page",route="a"} 2.5',
    'quittance_refused_total{limit="page",route="b"} 0',
  ]);
});

test('requests are counted by the pattern of their route, never by what a client named', async () => {
  const metrics = metricsOf([]);
  const parts = { logger, clock: systemClock, waitsFor: async () => [], metrics };
  const app = createApp(parts);
  app.get('/things/:id', (_req, res) => send(res, { status: 200, body: {} }));
  app.get('/broken/:id', () => {
    throw new Error('broken');
  });
  app.use('/own', (_req, res) => {
    nameRoute(res, '/own/:name');
    send(res, { status: 404, body: {} });
  });
  const base = await served(app);
  for (const path of ['/things/secret', '/things/other', '/broken/secret', '/own/secret', '/secret']) {
    await (await fetch(base + path)).text();
  }
  await (await fetch(`${base}/things/secret`, { method: 'PROPFIND' })).text();
  const scraped = await fetch(`${base}/metrics`);
  expect(scraped.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(scraped.headers.get('cache-control')).toBe('no-store');
  expect(scraped.headers.get('x-content-type-options')).toBe('nosniff');
  const text = await scraped.text();
  expect(text).not.toContain('secret');
  expect(text).toContain('process_cpu_seconds_total');
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  const counts = text
    .split('\n')
    .filter((line) => line.startsWith('quittance_http_request_duration_seconds_count'))
    .map((line) => line.replace(/^.*_count/, ''));
  expect(counts.sort()).toEqual([
    '{route="/broken/:id",method="GET",status="5xx"} 1',
    '{route="/own/:name",method="GET",status="4xx"} 1',
    '{route="/things/:id",method="GET",status="2xx"} 2',
    '{route="none",method="GET",status="4xx"} 1',
    '{route="none",method="none",status="4xx"} 1',
  ]);
});

test('whoever clients call directly shows its metrics to none of them', async () => {
  const parts = { logger, clock: systemClock, waitsFor: async () => [], metrics: metricsOf([]) };
  const base = await served(createApp({ ...parts, atTheEdge: true }));
  expect((await fetch(`${base}/metrics`)).status).toBe(404);
});
