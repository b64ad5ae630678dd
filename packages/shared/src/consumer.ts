import { createHash } from 'node:crypto';
import type { Bus, JsMsg } from './bus.ts';
import { sleep } from './clock.ts';
import { crashPoint } from './crash.ts';
import { type Db, isPassing, type Trx } from './db.ts';
import { type EventKind, type EventOf, parseEvent, type Service } from './events.ts';
import { thenGather } from './gather-pause.ts';
import { firstTimes, park } from './inbox.ts';
import { type Logger, reason } from './logger.ts';

const BATCH = 100;
const TRIES = 8;
const RETRY_MS = [100, 500, 1_000, 2_000, 5_000] as const;

/**
 * What a service does with each kind it takes. A handler gets all new events of its kind in a batch and
 * writes their effect with `trx`; it runs again with the same events when the transaction fails.
 */
export type Handlers = { [K in EventKind]?: (trx: Trx, events: readonly EventOf<K>[]) => Promise<void> };

/**
 * For a service to which all kinds are alike: gets all new events of a batch at once, in the order of their
 * arrival, so that it can keep that order and take its locks in one.
 */
export type BatchHandler = (trx: Trx, events: readonly EventOf<EventKind>[]) => Promise<void>;

export type ConsumerOptions = {
  bus: Bus;
  db: Db;
  service: Service;
  handlers: Handlers | BatchHandler;
  logger: Logger;
  /** Called after each commit: kick what the effects have given work. */
  committed?: () => void;
};

type Taken = { message: JsMsg; event: EventOf<EventKind> };

/** Takes events off the bus in batches: inbox row and effect in one transaction, acknowledged after commit. */
export function startConsumer(options: ConsumerOptions): { stop(): Promise<void> } {
  const { bus, service, logger } = options;
  const stopping = new AbortController();
  let close: (() => void) | undefined;

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const messages = await bus.consume(service);
        close = () => messages.stop();
        if (stopping.signal.aborted) messages.stop();
        try {
          await drain(messages, options);
        } finally {
          // What was fetched and not taken in is handed out again when its time to acknowledge is over.
          messages.stop();
        }
      } catch (error) {
        logger.warn({ reason: reason(error) }, 'the consumer lost the bus, starting it again');
      }
      await sleep(500, stopping.signal);
    }
  })();

  return {
    async stop() {
      stopping.abort();
      close?.();
      await loop;
    },
  };
}

/** Gathers what has arrived while the last batch was written, so that a busy consumer writes large batches. */
async function drain(messages: AsyncIterable<JsMsg>, options: ConsumerOptions): Promise<void> {
  const waiting: JsMsg[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  let failure: Error | undefined;

  const reading = (async () => {
    try {
      for await (const message of messages) {
        waiting.push(message);
        wake?.();
      }
    } catch (error) {
      failure = new Error('the bus ended the subscription', { cause: error });
    }
    ended = true;
    wake?.();
  })();

  while (!ended || waiting.length > 0) {
    if (waiting.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (ended || waiting.length > 0) resolve();
      });
      continue;
    }
    const batch = waiting.splice(0, BATCH);
    await thenGather(
      () => takeIn(batch, options),
      () => ended || waiting.length >= BATCH,
    );
  }
  await reading;
  if (failure !== undefined) throw failure;
}

async function takeIn(messages: readonly JsMsg[], options: ConsumerOptions): Promise<void> {
  const batch: Taken[] = [];
  for (const message of messages) {
    const taken = await read(message, options);
    if (taken) batch.push(taken);
  }
  if (batch.length === 0) return;
  try {
    await write(batch, options);
  } catch (error) {
    if (batch.length === 1) return retryOrPark(batch[0] as Taken, error, options);
    // One event that cannot be taken in must not hold up the others: find it by taking them one by one.
    options.logger.warn(
      { events: batch.length, reason: reason(error) },
      'a batch failed, taking its events one by one',
    );
    for (const taken of batch) {
      try {
        await write([taken], options);
      } catch (single) {
        await retryOrPark(taken, single, options);
      }
    }
  }
}

async function write(batch: readonly Taken[], { db, handlers, committed }: ConsumerOptions): Promise<void> {
  await db.transaction(async (trx) => {
    const fresh = await firstTimes(
      trx,
      batch.map(({ event }) => event.id),
    );
    // The same event twice in one batch is new only once.
    const events = batch.map(({ event }) => event).filter((event) => fresh.delete(event.id));
    if (typeof handlers === 'function') {
      if (events.length > 0) await handlers(trx, events);
    } else {
      await handleByKind(trx, events, handlers);
    }
    crashPoint('consumer.before_commit');
  });
  crashPoint('consumer.after_commit');
  for (const { message } of batch) message.ack();
  committed?.();
}

async function handleByKind(
  trx: Trx,
  events: readonly EventOf<EventKind>[],
  handlers: Handlers,
): Promise<void> {
  for (const [kind, group] of Map.groupBy(events, (event) => event.kind)) {
    const handle = handlers[kind] as BatchHandler | undefined;
    if (handle === undefined) throw new Error(`no handler for ${kind}`);
    await handle(trx, group);
  }
}

async function read(message: JsMsg, options: ConsumerOptions): Promise<Taken | undefined> {
  try {
    return { message, event: parseEvent(message.json()) };
  } catch (error) {
    await putAside(message, message.subject, error, options);
    return undefined;
  }
}

/** Its own id when it has one: by that its sender asks whether it arrived. */
function idOf(message: JsMsg): string {
  try {
    const { id } = message.json<{ id?: unknown }>();
    if (typeof id === 'string' && /^\w{1,64}$/.test(id)) return id;
  } catch {
    // No JSON at all, or null: it has no id.
  }
  return `unreadable_${createHash('sha256').update(message.data).digest('hex')}`;
}

async function retryOrPark(
  { message, event }: Taken,
  error: unknown,
  options: ConsumerOptions,
): Promise<void> {
  const tries = message.info.deliveryCount;
  // The count says little of the event: it also grows while a message waits its turn in here.
  if (tries >= TRIES && !isPassing(error)) return putAside(message, event.kind, error, options);
  options.logger.warn(
    { event: event.id, kind: event.kind, tries, reason: reason(error) },
    'an event could not be taken in, it will be tried again',
  );
  message.nak(RETRY_MS[Math.min(tries, RETRY_MS.length) - 1] ?? RETRY_MS[0]);
}

/** Parks a message for an operator. Never throws: nothing about one message may stop those behind it. */
async function putAside(
  message: JsMsg,
  kind: string,
  error: unknown,
  { db, logger }: ConsumerOptions,
): Promise<void> {
  const id = idOf(message);
  const said = { event: id, kind, tries: message.info.deliveryCount, reason: reason(error) };
  try {
    await park(db, id, kind, message.data, reason(error));
    logger.error(said, 'an event was parked: an operator must look at it');
    message.term();
  } catch (failure) {
    logger.warn(
      { ...said, parking: reason(failure) },
      'an event could not be parked, it will be tried again',
    );
    message.nak(RETRY_MS[RETRY_MS.length - 1] ?? RETRY_MS[0]);
  }
}
