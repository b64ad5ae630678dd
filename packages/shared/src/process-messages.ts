import { createHash } from 'node:crypto';
import type { Db, Trx } from './db.ts';
import { isPassing, mayPassInParts } from './db-errors.ts';
import { processedSpans } from './event-spans.ts';
import { type EventKind, type EventOf, events, parseEvent, type Service, subjectOf } from './events.ts';
import { failpoint } from './failpoint.ts';
import { addDeadLetter, firstTimes } from './inbox.ts';
import { type Logger, reason, type ThrottledLog } from './logger.ts';
import { noTracer, type Tracer } from './traces.ts';

const TRIES = 8;
/** One event may close its database connection. When two in a row do, the database is down. */
const AWAY_AFTER = 2;
const RETRY_MS = [100, 500, 1_000, 2_000, 5_000] as const;

/** A delivered message, which the consumer must acknowledge, return or end. */
export type Message = {
  readonly subject: string;
  readonly data: Uint8Array;
  /** `deliveryCount`: 1 the first time. */
  readonly info: { readonly deliveryCount: number };
  readonly headers?: { get(name: string): string; has(name: string): boolean } | undefined;
  json<T = unknown>(): T;
  ack(): void;
  /** It is delivered again, after a while. */
  nak(afterMs?: number): void;
  /** It is never delivered again. */
  term(): void;
};

export type ProcessOptions<P = unknown> = {
  db: Db;
  handlers: Handlers<P>;
  /** What the handlers are given. */
  ports?: P;
  logger: Logger;
  /** Kept from batch to batch: an hour without the database is a line a minute, not one for each event and attempt. */
  throttled: ThrottledLog;
  /** The pauses before a message is delivered again, by how often it was delivered. */
  retryMs?: readonly number[] | undefined;
  /** Called after each commit with the events that are new: wakes the workers that have work by them. */
  committed?: (events: readonly ProcessedEvent[]) => void;
  /** Told of each event that was processed. */
  tracer?: Tracer | undefined;
};

/** An event whose effects are committed; each comes once. */
export type ProcessedEvent = EventOf<EventKind>;

type DeadLetterPorts = Pick<ProcessOptions, 'db' | 'logger' | 'retryMs'>;

type Taken = { message: Message; event: EventOf<EventKind> };
type Failed = Taken & { error: unknown };

const WAITING = 'waiting';
function logWaiting({ throttled }: Pick<ProcessOptions, 'throttled'>, events: number, error: unknown): void {
  const fields = { events, reason: reason(error) };
  throttled.log('warn', WAITING, fields, 'events could not be processed, they will be tried again');
}

/**
 * Processes a batch: inbox rows and effects of new events in one transaction, acknowledged after the commit. Events that fail
 * for a temporary reason are delivered again later. An event that fails alone is delivered again too, and becomes a dead
 * letter when it never succeeds. Never throws.
 */
export async function processMessages<P>(
  messages: readonly Message[],
  options: ProcessOptions<P>,
): Promise<void> {
  const batch: Taken[] = [];
  for (const message of messages) {
    const taken = await read(message, options);
    if (taken) batch.push(taken);
  }
  if (batch.length === 0) return;
  const failed = await failedOf(batch, options);
  const { waiting = [], refused = [] } = Object.groupBy(failed, ({ error }) =>
    isPassing(error) ? 'waiting' : 'refused',
  );
  for (const { message } of waiting) handBack(message, options);
  for (const one of refused) await retryOrMoveToDeadLetters(one, options);
  const [first] = waiting;
  if (first !== undefined) logWaiting(options, waiting.length, first.error);
  else if (failed.length < batch.length) options.throttled.ended(WAITING, {}, 'events are processed again');
}

/**
 * Writes a batch and returns the events that failed. One event that fails must not delay the others, so after a failure they
 * are written one by one. While the database is down that would find nothing and take each event's timeout: the failure of
 * two events in a row is taken for those behind them.
 */
async function failedOf<P>(batch: readonly Taken[], options: ProcessOptions<P>): Promise<Failed[]> {
  try {
    await write(batch, options);
    return [];
  } catch (error) {
    if (batch.length === 1) return batch.map((taken) => ({ ...taken, error }));
    const fields = { events: batch.length, reason: reason(error) };
    if (isPassing(error)) logWaiting(options, batch.length, error);
    else options.logger.warn(fields, 'a batch failed, processing its events one by one');
  }
  const failed: Failed[] = [];
  let inARow = 0;
  for (const [i, taken] of batch.entries()) {
    const [single] = await failedOf([taken], options);
    if (single !== undefined) failed.push(single);
    inARow = isOfNone(single?.error) ? inARow + 1 : 0;
    if (inARow < AWAY_AFTER) continue;
    return [...failed, ...batch.slice(i + 1).map((untried) => ({ ...untried, error: single?.error }))];
  }
  return failed;
}

/** The failure is not the event's own: the database would have answered the same to any other. */
const isOfNone = (error: unknown): boolean => isPassing(error) && !mayPassInParts(error);

async function write<P>(batch: readonly Taken[], options: ProcessOptions<P>): Promise<void> {
  const { db, handlers, ports, logger, committed, tracer = noTracer } = options;
  const start = tracer.now();
  const { events: processed, forgotten } = await db.transaction(async (trx) => {
    const { fresh, forgotten } = await firstTimes(
      trx,
      batch.map(({ event }) => event.id),
    );
    // The same event twice in one batch is new only once.
    const events = batch.map(({ event }) => event).filter((event) => fresh.delete(event.id));
    await handleBatch(trx, events, handlers, ports as P);
    failpoint('consumer.before_commit');
    return { events, forgotten };
  });
  failpoint('consumer.after_commit');
  tracer.record(() => {
    const arrived = batch.filter(({ event }) => processed.includes(event));
    return processedSpans(
      arrived.map(({ message: { subject }, event }) => ({ subject, event })),
      start,
      tracer.now(),
    );
  });
  const taken = batch.filter(({ event }) => !forgotten.has(event.id));
  for (const { message } of taken) message.ack();
  failpoint('consumer.acknowledged');
  for (const { message, event } of batch) {
    if (forgotten.has(event.id)) await moveToDeadLetters(message, event.kind, mayHaveComeBefore(), options);
  }
  for (const { event } of taken) {
    logger.debug({ event: event.id, kind: event.kind, request_id: event.request_id }, 'processed an event');
  }
  committed?.(processed);
}

const mayHaveComeBefore = () =>
  new Error(
    'it is older than what the inbox remembers, and its sender had reported that it keeps it no more: it may have been processed before. Check whether its effect exists; if it does not, `quittance dead-letters retry EVENT --not-processed` processes it',
  );

/** NATS lets each service write under its own name only, so the subject shows the sender, and not the event's contents. */
const mayComeAs = (kind: EventKind, subject: string): boolean =>
  events[kind].to.some((to) => subjectOf(kind, to) === subject);

async function read(message: Message, options: DeadLetterPorts): Promise<Taken | undefined> {
  const { subject } = message;
  try {
    const event = parseEvent(message.json());
    if (mayComeAs(event.kind, subject)) return { message, event };
    const forged = new Error(`${event.kind} may not come as ${subject}`);
    // Not under the id that it has: the sender of the true event with that id would count it as arrived.
    await moveToDeadLetters(message, subject, forged, options, namelessId(message));
  } catch (error) {
    await moveToDeadLetters(message, subject, error, options);
  }
  return undefined;
}

/** The message's own id when it has one: its sender asks by it whether it arrived. */
function idOf(message: Message): string {
  try {
    const { id } = message.json<{ id?: unknown }>();
    if (typeof id === 'string' && /^\w{1,64}$/.test(id)) return id;
  } catch {
    // No JSON at all, or null: it has no id.
  }
  return namelessId(message);
}

const namelessId = ({ data }: Message): string =>
  `unreadable_${createHash('sha256').update(data).digest('hex')}`;

async function retryOrMoveToDeadLetters(
  { message, event, error }: Failed,
  options: DeadLetterPorts,
): Promise<void> {
  const tries = message.info.deliveryCount;
  // The count also grows while a message waits in this process.
  if (tries >= TRIES) return moveToDeadLetters(message, event.kind, error, options);
  options.logger.warn(
    { event: event.id, kind: event.kind, tries, reason: reason(error) },
    'an event could not be processed, it will be tried again',
  );
  handBack(message, options);
}

/** The more often it was delivered, the later it is delivered again. */
function handBack(message: Message, { retryMs = RETRY_MS }: Pick<ProcessOptions, 'retryMs'>): void {
  const tries = message.info.deliveryCount;
  message.nak(retryMs[Math.min(tries, retryMs.length) - 1] ?? retryMs[0]);
}

/** Makes a message a dead letter, for an operator. Never throws: one message must not stop those behind it. */
async function moveToDeadLetters(
  message: Message,
  kind: string,
  error: unknown,
  { db, logger }: DeadLetterPorts,
  id = idOf(message),
): Promise<void> {
  const said = { event: id, kind, tries: message.info.deliveryCount, reason: reason(error) };
  try {
    await addDeadLetter(db, id, kind, message.data, reason(error));
    logger.error(said, 'an event became a dead letter: an operator must look at it');
    message.term();
  } catch (failure) {
    logger.warn(
      { ...said, not_stored_because: reason(failure) },
      'an event could not be stored as a dead letter, it will be tried again',
    );
    message.nak(RETRY_MS[RETRY_MS.length - 1] ?? RETRY_MS[0]);
  }
}

/**
 * Writes the effect of new events of one kind with `trx`. It runs again with the same events when the transaction fails.
 */
export type Handler<K extends EventKind, P> = (
  trx: Trx,
  events: readonly EventOf<K>[],
  ports: P,
) => Promise<void>;

/** Handles all new events of a batch, in the order of their arrival. */
export type BatchHandler<P = unknown> = Handler<EventKind, P>;

/**
 * What a service does with the events of a batch: `*` gets all of them first, in the order of their arrival, then each
 * kind's handler those of its kind, in the order in which the handlers are listed. Where `*` is the only handler it takes
 * all kinds.
 */
export type Handlers<P = unknown> = { readonly [K in EventKind]?: Handler<K, P> } & {
  readonly '*'?: BatchHandler<P>;
};

type KindFor<S extends Service> = {
  [K in EventKind]: S extends (typeof events)[K]['to'][number] ? K : never;
}[EventKind];

/** The handlers of a service: one for each kind that it receives, or `*` alone. */
export type HandlersOf<S extends Service, P> = { readonly '*'?: BatchHandler<P> } & (
  | { readonly [K in KindFor<S>]: Handler<K, P> }
  | { readonly '*': BatchHandler<P> }
);

/** Hands a batch of new events to its handlers. Throws when a kind has none: nothing of the batch may be committed then. */
export async function handleBatch<P>(
  trx: Trx,
  batch: readonly EventOf<EventKind>[],
  handlers: Handlers<P>,
  ports: P,
): Promise<void> {
  if (batch.length === 0) return;
  const { '*': all, ...byKind } = handlers;
  const kinds = Object.keys(byKind) as EventKind[];
  const unhandled = batch.find(({ kind }) => !kinds.includes(kind));
  if (unhandled !== undefined && (all === undefined || kinds.length > 0)) {
    throw new Error(`no handler for ${unhandled.kind}`);
  }
  await all?.(trx, batch, ports);
  const groups = Map.groupBy(batch, (event) => event.kind);
  for (const kind of kinds) {
    const group = groups.get(kind);
    if (group !== undefined) await (byKind[kind] as BatchHandler<P>)(trx, group, ports);
  }
}
