import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { sleep } from './clock.ts';
import { type Db, openDb, type Queryable, type Statement } from './db.ts';
import type { Service } from './events.ts';
import { formerMetrics } from './former-metrics.ts';
import { type Logger, reason } from './logger.ts';
import { invariant } from './result.ts';
import { throttledLog } from './throttled-log.ts';

type Name = `quittance_${string}`;

/** One line of a metric: its value, and what its labels say. */
export type Sample = { value: number; [label: string]: string | number };

/** A gauge whose samples are looked up when somebody asks. */
export type MemoryGauge = { name: Name; help: string; labels?: readonly string[]; look(): Sample[] };

/** A gauge whose samples come from the database, by one question that costs little however long the service has run. */
export type DatabaseGauge = {
  name: Name;
  help: string;
  labels?: readonly string[];
  read(db: Queryable): Promise<Sample[]>;
};

export type RequestLabels = { route: string; method: string; status: string };

export type Metrics = {
  contentType: string;
  /** Everything, as Prometheus reads it. Never fails, and takes seconds at most. */
  text(): Promise<string>;
  request(labels: RequestLabels, seconds: number): void;
  /** What only grows; each value of its label is there from the beginning, at 0. */
  counter<V extends string>(
    of: { name: Name; help: string },
    label: string,
    values: readonly V[],
  ): (value: V) => void;
  gauge(gauge: MemoryGauge): void;
  close(): Promise<void>;
};

export type MetricsOptions = {
  logger: Logger;
  /** A connection for nothing else: no request waits behind a scrape. Closed with the metrics. */
  db?: Db;
  /** What is read through it. */
  gauges?: readonly DatabaseGauge[];
  /** For so long nothing is asked again. */
  cachedMs?: number;
};

/** However many ask, the database is asked once in so long. */
const CACHED_MS = 5_000;
/** A scrape has what is known by then: Prometheus gives up after ten seconds. */
const READ_WITHIN_MS = 3_000;
const STATEMENT_TIMEOUT = '2s';
const ANSWER_WITHIN_MS = 2_500;

/** What a gauge reads where one statement gives its samples as they are. */
export const reading = (sql: Statement) => (db: Queryable) => db.rows<Sample>(sql);

/** The connection that metrics are read through, made when somebody asks for them first. */
export const openMetricsDb = (service: Service, url: string, logger: Logger): Db =>
  openDb({
    url,
    schema: service,
    pool: 1,
    logger,
    answerWithinMs: ANSWER_WITHIN_MS,
    // A plan is made once a connection, perhaps while the tables are still empty.
    settings: { statement_timeout: STATEMENT_TIMEOUT, enable_seqscan: 'off' },
  });

/** What a service tells of itself at `/metrics`: its requests, its process, and what it adds. */
export function createMetrics({ logger, db, gauges = [], cachedMs = CACHED_MS }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'quittance_http_request_duration_seconds',
    help: 'How long requests took, by the pattern of their route; `none` is a route that there is not, or no answer.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  for (const { name, help, labels = [], read } of gauges) {
    invariant(db !== undefined, `there is a database to read ${name} from`);
    const latest = remembering(() => read(db), { cachedMs, logger, name });
    addGauge(registry, { name, help, labels }, latest);
  }
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    request: (labels, seconds) => requests.observe(labels, seconds),
    counter({ name, help }, label, values) {
      const counter = new Counter({ name, help, labelNames: [label], registers });
      for (const value of values) counter.inc({ [label]: value }, 0);
      return (value) => counter.inc({ [label]: value });
    },
    gauge({ name, help, labels = [], look }) {
      addGauge(registry, { name, help, labels }, look);
    },
    close: async () => db?.close(),
  };
}

type Shown = { name: Name; help: string; labels: readonly string[] };

/** Registers a gauge, and once more under its former name where it has one. */
function addGauge(
  registry: Registry,
  { name, help, labels }: Shown,
  look: () => readonly Sample[] | Promise<readonly Sample[]>,
): void {
  new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const samples = await look();
      this.reset();
      // A gauge without a sample is not there: what is not known is no zero.
      if (labels.length === 0) this.remove();
      for (const { value, ...own } of samples) this.set(own, value);
    },
  });
  const former = formerMetrics[name];
  if (former === undefined) return;
  const labelOf = (label: string) => former.labels?.[label] ?? label;
  const formerHelp = `Former name of ${name}. It is removed in the next release.`;
  addGauge(registry, { name: former.name, help: formerHelp, labels: labels.map(labelOf) }, async () =>
    (await look()).map(({ value, ...own }) => ({
      ...Object.fromEntries(Object.entries(own).map(([label, its]) => [labelOf(label), its])),
      value: former.value?.(value) ?? value,
    })),
  );
}

/** The latest samples, read again when they are old; none while they cannot be read, so that only their gauge is missing. */
function remembering(
  read: () => Promise<Sample[]>,
  { cachedMs, logger, name }: { cachedMs: number; logger: Logger; name: string },
): () => Promise<readonly Sample[]> {
  const failures = throttledLog(logger);
  let known: readonly Sample[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<void> | undefined;

  async function readAgain(): Promise<void> {
    try {
      known = await read();
      failures.ended(name, { metric: name }, 'the metric is read again');
    } catch (error) {
      known = [];
      failures.log('warn', name, { metric: name, reason: reason(error) }, 'a metric could not be read');
    }
    readAtMs = performance.now();
    inFlight = undefined;
  }

  return async () => {
    if (performance.now() - readAtMs < cachedMs) return known;
    inFlight ??= readAgain();
    const answered = new AbortController();
    const inTime = await Promise.race([
      inFlight.then(() => true),
      sleep(READ_WITHIN_MS, answered.signal).then(() => false),
    ]);
    answered.abort();
    return inTime ? known : [];
  };
}
