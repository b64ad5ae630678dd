import { randomUUID } from 'node:crypto';
import type { Express } from 'express';
import type { z } from 'zod';
import { type Bus, connectBus, lateBus } from './bus.ts';
import { type Clock, systemClock } from './clock.ts';
import { watchClock } from './clock-watch.ts';
import { type CommandName, commandSubject, commands, type ReplyOf, type RequestOf } from './commands.ts';
import type { serviceSettings } from './config.ts';
import { type Db, openDb } from './db.ts';
import { answeredSpans } from './event-spans.ts';
import type { Service } from './events.ts';
import type { HttpParts } from './http.ts';
import { type Listening, type ListenOptions, listen } from './http-server.ts';
import type { Running } from './lifecycle.ts';
import { createLogger, type Logger, reason } from './logger.ts';
import { startMessenger } from './messenger.ts';
import type { Metrics } from './metrics.ts';
import { type OpenTracer, openTracer, spanOutcomes, type TraceSettings } from './open-tracer.ts';
import type { HandlersOf, ProcessedEvent } from './process-messages.ts';
import { databaseCheck, untilReady } from './readiness.ts';
import { invariant } from './result.ts';
import type { Tracer } from './traces.ts';

/** Requests in flight end within this time; a process has two seconds more (lifecycle.ts). */
const DRAIN_MS = 8_000;

type Settings = z.infer<z.ZodObject<typeof serviceSettings>>;

/** The settings that services have. Without NATS_URL a service sends and receives no events, without HOST and PORT it serves no HTTP. */
export type ServiceConfig = Pick<Settings, 'LOG_LEVEL' | 'DATABASE_URL' | 'DATABASE_POOL'> &
  Partial<Pick<Settings, 'HOST' | 'PORT' | 'NATS_URL' | 'PUBLIC_URL'>> &
  TraceSettings;

/** What every service's ports are made from. */
export type BasePorts = {
  db: Db;
  /** Connected at step 5; until then its methods fail. */
  bus: Bus;
  clock: Clock;
  logger: Logger;
  /** Names this process where one replica works for all. */
  replica: string;
  /** Records the steps of payments and payouts, where traces are on. */
  tracer: Tracer;
  /** Wakes the relay: call it after a commit that wrote to the outbox. */
  wakeRelay: () => void;
};

/** What an app is made with: see `createApp`. */
export type ServiceHttpParts = Pick<HttpParts, 'logger' | 'clock' | 'waitsFor' | 'publicUrl'> & {
  metrics: Metrics;
};

export type Stoppable = { stop(): Promise<void> };
export type Closable = { close(): void | Promise<void> };

/** How long a service pauses before it processes an event that failed again. */
export type MessengerSettings = { retryMs?: readonly number[] };

/** What a service opens before anything is connected. */
export type Opened<P> = {
  ports: P;
  /** Shown over HTTP: a service without `http` has none. */
  metrics?: Metrics;
  /** Stopped together with the workers: they use NATS. */
  watchers?: readonly Stoppable[];
  /** Closed last, together with the database: clients of nodes, of Redis, of other services. */
  connections?: readonly Closable[];
};

/** Answers a command of another service. A throw is no answer at all. */
type Responder<C extends CommandName, P> = (ports: P, request: RequestOf<C>) => Promise<ReplyOf<C>>;

export type ServiceParts<S extends Service, P, W extends Stoppable | readonly Stoppable[]> = {
  name: S;
  config: ServiceConfig;
  /** The service's folder of numbered .sql files. */
  migrations: URL;
  /** What tests give in place of what is opened here. */
  given?: Partial<Pick<BasePorts, 'db' | 'bus' | 'clock' | 'logger'>> & MessengerSettings;
  /** More settings of Postgres, for every connection of the pool. */
  databaseSettings?: Readonly<Record<string, string>>;
  open: (base: BasePorts) => Opened<P>;
  /** Throws when waiting would mend nothing: a node of another network, say. */
  check?: (ports: P) => Promise<void>;
  /** Without it the service listens nowhere. */
  http?: (ports: P, parts: ServiceHttpParts) => Express;
  listenOptions?: (ports: P) => ListenOptions;
  /** `/metrics` on a port of its own, for a service that clients call directly. */
  metricsHttp?: (ports: P, parts: ServiceHttpParts) => { app: Express; port: number } | undefined;
  /** HTTP is served as soon as it listens, with 503 for what needs the database: `startService` does not wait for it. */
  servesWithoutDatabase?: boolean;
  /** Once the database is there and migrated, before NATS is connected. */
  migrated?: (ports: P) => Promise<void>;
  /** Once NATS is connected, before anything is received from it. */
  connected?: (ports: P) => Promise<void>;
  responders?: { readonly [C in CommandName]?: Responder<C, P> };
  handlers?: HandlersOf<S, P>;
  /** Undefined in tests that step the workers themselves. */
  workers?: ((ports: P) => W) | undefined;
  /** After each batch of events that was committed, with those that are new: wake what it has given work. */
  committed?: (ports: P, workers: W | undefined, events: readonly ProcessedEvent[]) => void;
  /** Ends answers that would go on for minutes, so that requests can end in time. */
  endStreams?: (ports: P) => void | Promise<void>;
  /** A last write, when HTTP, workers and handlers have ended. Its failure is a warning. */
  leave?: (ports: P) => Promise<void>;
};

/** `port`: 0 of a service that listens nowhere. */
export type RunningService<P> = Running & { ports: P; port: number; ready: Promise<void> };

/**
 * Starts a replica of a service, each in this order:
 *
 * 1. `open`: the database's pool, clients and ports are made. Nothing is waited for.
 * 2. `check`: what waiting would not mend refuses the start.
 * 3. HTTP listens, if the service has any: `/healthz` is 200, `/readyz` is 503 and names what is waited for.
 * 4. The database answers and has all migrations; then `migrated`.
 * 5. NATS is connected; then `connected`.
 * 6. Commands are answered, workers run, events are sent and received.
 *
 * `stop` takes it down in three steps: HTTP, workers, watchers, and the sending and receiving of events end at the same
 * time, each with what it has begun; then `leave`; then NATS and at last the database and other clients are closed.
 * A start that fails takes down what it has opened, and rejects.
 *
 * Throws StartRefused when the database is newer than this code, or an engine too old, or the port is taken.
 */
export async function startService<
  S extends Service,
  P extends object,
  W extends Stoppable | readonly Stoppable[],
>(parts: ServiceParts<S, P, W>): Promise<RunningService<P>> {
  const { name, config, given = {} } = parts;
  const logger = given.logger ?? createLogger(name, config.LOG_LEVEL);
  const clock = given.clock ?? systemClock;
  const url = config.DATABASE_URL.reveal();
  const db =
    given.db ??
    openDb({ url, schema: name, pool: config.DATABASE_POOL, logger, settings: parts.databaseSettings ?? {} });
  const replica = randomUUID();
  const tracer = await openTracer(name, replica, config, logger);
  const late = lateBus();
  const { bus } = late;
  let wakeRelay = () => {};
  const {
    ports,
    metrics,
    watchers = [],
    connections = [],
  } = parts.open({
    db,
    bus,
    clock,
    logger,
    replica,
    tracer,
    wakeRelay: () => wakeRelay(),
  });
  if (metrics !== undefined) countSpans(tracer, metrics);
  const servers: Listening[] = [];
  const running: Stoppable[] = [...watchers];
  const stopping = new AbortController();
  let hasBegun = false;
  const check = databaseCheck({ db, url, logger }, parts.migrations);
  const health = {
    logger,
    clock,
    publicUrl: config.PUBLIC_URL,
    async waitsFor() {
      const lack = await check.lacks();
      const lacksBus = config.NATS_URL !== undefined && !bus.connected();
      return [...(lack === undefined ? [] : [lack]), ...(lacksBus ? ['NATS'] : [])];
    },
  };

  async function serve(): Promise<number> {
    await parts.check?.(ports);
    if (parts.http === undefined) return 0;
    const { HOST: host, PORT: asked } = config;
    invariant(
      host !== undefined && asked !== undefined && metrics !== undefined,
      'a service that serves HTTP has an address and metrics',
    );
    const side = parts.metricsHttp?.(ports, { ...health, metrics });
    if (side !== undefined) servers.push(await listen(side.app, host, side.port));
    const app = parts.http(ports, { ...health, metrics });
    const main = await listen(app, host, asked, parts.listenOptions?.(ports));
    servers.push(main);
    logger.info({ port: main.port }, `${name} listens`);
    return main.port;
  }

  async function begin(): Promise<void> {
    await untilReady(check, logger, stopping.signal);
    if (stopping.signal.aborted) return;
    // A test's clock has a time of its own.
    if (given.clock === undefined) running.push(watchClock({ db, clock, logger }));
    await parts.migrated?.(ports);
    if (config.NATS_URL !== undefined) {
      const connected =
        given.bus ?? (await connectBus({ url: config.NATS_URL.reveal(), service: name, logger }));
      if (stopping.signal.aborted) return connected.close();
      late.connect(connected);
    }
    await parts.connected?.(ports);
    if (stopping.signal.aborted) return;
    hasBegun = true;
    for (const command of Object.keys(parts.responders ?? {}) as CommandName[]) {
      const respond = parts.responders?.[command] as Responder<CommandName, P> | undefined;
      invariant(respond !== undefined && commands[command].by === name, `${command} is answered by ${name}`);
      bus.answer(
        commandSubject(command),
        traced(tracer, command, (request) => respond(ports, request)),
      );
    }
    const workers = parts.workers?.(ports);
    if (workers !== undefined) running.push(...[workers].flat());
    if (config.NATS_URL === undefined) return;
    const messenger = startMessenger<P>({
      db,
      bus,
      service: name,
      logger,
      handlers: parts.handlers,
      retryMs: given.retryMs,
      ports,
      tracer,
      committed: (events) => parts.committed?.(ports, workers, events),
    });
    wakeRelay = messenger.wake;
    running.push(messenger);
  }

  async function stop(): Promise<void> {
    stopping.abort();
    // What fails to end keeps nothing else open.
    const ended = await Promise.allSettled([
      parts.endStreams?.(ports),
      ...servers.map((server) => server.close(DRAIN_MS)),
      ...running.map((one) => one.stop()),
    ]);
    if (hasBegun) {
      await parts.leave?.(ports).catch((error: unknown) => {
        logger.warn({ reason: reason(error) }, 'the last write of this replica failed');
      });
    }
    await bus.close();
    const closed = [metrics, ...connections, db, tracer].map(async (one) => one?.close());
    const failed = [...ended, ...(await Promise.allSettled(closed))].find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  const undo = async (error: unknown): Promise<never> => {
    await stop().catch((failure: unknown) => {
      logger.warn({ reason: reason(failure) }, 'a start that failed could not be taken down');
    });
    throw error;
  };
  const port = await serve().catch(undo);
  const ready = begin();
  if (parts.servesWithoutDatabase !== true) await ready.catch(undo);
  return { ports, port, ready, stop };
}

const countSpans = (tracer: OpenTracer, metrics: Metrics): void => {
  if (!tracer.isOn) return;
  const name = 'quittance_trace_spans_total';
  const help = 'Spans that the collector of traces took, and those that were dropped.';
  const count = metrics.counter({ name, help }, { outcome: spanOutcomes });
  tracer.onCount((outcome, spans) => count({ outcome }, spans));
};

/** Parses the request of a command, answers it, and records that it was answered. */
const traced =
  (
    tracer: Tracer,
    command: CommandName,
    answer: (request: RequestOf<CommandName>) => Promise<ReplyOf<CommandName>>,
  ) =>
  async (body: unknown): Promise<ReplyOf<CommandName>> => {
    const request = commands[command].request.parse(body);
    const start = tracer.now();
    try {
      const reply = await answer(request);
      tracer.record(() => answeredSpans(command, request, { start, end: tracer.now(), reply }));
      return reply;
    } catch (error) {
      tracer.record(() => answeredSpans(command, request, { start, end: tracer.now(), error: 'no_answer' }));
      throw error;
    }
  };
