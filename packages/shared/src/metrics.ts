import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { remembered, sleep } from './clock.ts';
import { type Db, openDb, type Queryable, type Statement, statement } from './db.ts';
import type { Service } from './events.ts';
import { type Logger, reason, throttledLog } from './logger.ts';
import { invariant } from './result.ts';

type Name = `quittance_${string}`;

/** One line of a metric: its value, and what its labels say. */
export type Sample = { value: number; [label: string]: string | number };

type Shown = { name: Name; help: string; labels?: readonly string[] };

/** A gauge whose samples are looked up when somebody asks. */
export type MemoryGauge = Shown & { look(): Sample[] };

/** A gauge whose samples come from the database, by one question that costs little however long the service has run. */
export type DatabaseGauge = Shown & { read(db: Queryable): Promise<Sample[]> };

export type RequestLabels = { route: string; method: string; status: string };

/** The values of each label. */
type Labels = { readonly [label: string]: readonly string[] };

export type Metrics = {
  contentType: string;
  /** Everything, as Prometheus reads it. Never fails, and takes seconds at most. */
  text(): Promise<string>;
  request(labels: RequestLabels, seconds: number): void;
  /** What only grows, by one where nothing else is said; each value of its labels is there from the beginning, at 0. */
  counter<const L extends Labels>(
    of: { name: Name; help: string },
    labels: L,
  ): (values: { readonly [K in keyof L]: L[K][number] }, by?: number) => void;
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
  for (const gauge of gauges) {
    invariant(db !== undefined, `there is a database to read ${gauge.name} from`);
    addGauge(registry, gauge, latestSamples(gauge, db, { cachedMs, logger }));
  }
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    request: (labels, seconds) => requests.observe(labels, seconds),
    counter({ name, help }, labels) {
      const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers });
      for (const values of combinations(labels)) counter.inc(values, 0);
      return (values, by) => counter.inc({ ...values }, by);
    },
    gauge: (gauge) => addGauge(registry, gauge, gauge.look),
    close: async () => db?.close(),
  };
}

/** Each value of a label with each of the others. */
const combinations = (labels: Labels): Record<string, string>[] =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );

type FormerMetric = {
  name: Name;
  /** By the label's present name, its former one. */
  labels?: Readonly<Record<string, string>>;
  value?: (present: number) => number;
};

/**
 * By the present name of a gauge, what it was called in the former release. Both are exported for one release, so that alerts
 * and dashboards of operators keep working. docs/glossary.md lists them.
 */
export const formerMetrics: { readonly [name: Name]: FormerMetric } = {
  quittance_chain_lag_seconds: { name: 'quittance_chain_behind_seconds' },
  quittance_dead_letters: { name: 'quittance_messages_parked' },
  quittance_payouts_leader: { name: 'quittance_engine_led' },
  quittance_rate_limit_redis_up: { name: 'quittance_redis_away', value: (up) => 1 - up },
  quittance_reconciliation_chain_compared: { name: 'quittance_books_chain_compared' },
  quittance_reconciliation_checked_timestamp_seconds: {
    name: 'quittance_books_checked_timestamp_seconds',
    labels: { scope: 'extent' },
  },
  quittance_reconciliation_discrepancies: { name: 'quittance_books_breaches' },
  quittance_signing_paused: { name: 'quittance_engine_barred' },
};

/** Registers a gauge, and once more under its former name where it has one. */
function addGauge(
  registry: Registry,
  { name, help, labels = [] }: Shown,
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

/** The latest samples; none while they cannot be read, or not in time, so that only their gauge is missing. */
function latestSamples(
  { name, read }: DatabaseGauge,
  db: Queryable,
  { cachedMs, logger }: { cachedMs: number; logger: Logger },
): () => Promise<readonly Sample[]> {
  const failures = throttledLog(logger);
  const latest = remembered(async (): Promise<readonly Sample[]> => {
    try {
      const samples = await read(db);
      failures.ended(name, { metric: name }, 'the metric is read again');
      return samples;
    } catch (error) {
      failures.log('warn', name, { metric: name, reason: reason(error) }, 'a metric could not be read');
      return [];
    }
  }, cachedMs);
  return async () => {
    const answered = new AbortController();
    const tooLate = sleep(READ_WITHIN_MS, answered.signal).then(() => []);
    const samples = await Promise.race([latest(), tooLate]);
    answered.abort();
    return samples;
  };
}

const UNSENT_MAX = 100_000;

const selectUnsent = statement(
  'metrics_outbox_unsent',
  `select count(*)::float as value from (select from outbox where sent_at is null limit ${UNSENT_MAX}) as unsent`,
);

const ageOfFirst = (name: string, which: string): Statement =>
  statement(
    name,
    `select coalesce((select greatest(0, extract(epoch from now() - created_at)) from outbox
       where ${which} order by seq limit 1), 0)::float as value`,
  );

const selectOldestUnsent = ageOfFirst('metrics_outbox_oldest_unsent', 'sent_at is null');
const selectOldestUnconfirmed = ageOfFirst(
  'metrics_outbox_oldest_unconfirmed',
  'confirmed_at is null and sent_at is not null',
);
const selectDeadLetters = statement(
  'metrics_dead_letters',
  `select count(*)::float as value from dead_letters`,
);

/** How the talk between the services goes, of each that has an outbox and an inbox. */
export const messageGauges: readonly DatabaseGauge[] = [
  {
    name: 'quittance_outbox_unsent',
    help: `Events that are written and not yet on the bus, up to ${UNSENT_MAX}.`,
    read: reading(selectUnsent),
  },
  {
    name: 'quittance_outbox_oldest_unsent_seconds',
    help: 'Age of the oldest event that is not yet on the bus; 0 when there is none.',
    read: reading(selectOldestUnsent),
  },
  {
    name: 'quittance_outbox_oldest_unconfirmed_seconds',
    help: 'Age of the oldest event that was sent and is not known to be in the inbox of all it is for; 0 when there is none.',
    read: reading(selectOldestUnconfirmed),
  },
  {
    name: 'quittance_dead_letters',
    help: 'Events that this service failed to process after many attempts.',
    read: reading(selectDeadLetters),
  },
];
