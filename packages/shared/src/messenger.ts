import type { Bus } from './bus.ts';
import { sleep } from './clock.ts';
import { kindsFor, type Service } from './events.ts';
import { answerPruning, pruneInboxStep } from './inbox.ts';
import { reason, throttledLog } from './logger.ts';
import { pruneOutboxStep, RELAY_BATCH, relayStep } from './outbox.ts';
import {
  type Handlers,
  type Message,
  type ProcessedEvent,
  type ProcessOptions,
  processMessages,
} from './process-messages.ts';
import { answerReconcilers, reconcileStep } from './reconcile.ts';
import { startWorker, type Worker, withBatchPause } from './worker.ts';

/** Whoever appends to the outbox wakes the relay: this is for what another process has left, and after NATS was away. */
const RELAY_EVERY_MS = 500;
/** A lost event is noticed after 20 s at the earliest. With two unanswered requests it still arrives within 60 s. */
const RECONCILE_EVERY_MS = 10_000;
/** Often, so that a step finds few dead rows before the first live one. While there are more, steps follow each other at once. */
const PRUNE_OUTBOX_EVERY_MS = 10_000;
const PRUNE_INBOX_EVERY_MS = 3_600_000;

export type ConsumerOptions<P = unknown> = Omit<ProcessOptions<P>, 'throttled'> & {
  bus: Bus;
  service: Service;
};

/** Without handlers for a service that receives no events. */
export type MessengerOptions<P> = Omit<ConsumerOptions<P>, 'handlers'> & {
  handlers?: Handlers<P> | undefined;
};

/**
 * Runs what a service needs for events: the relay publishes its outbox, the consumer processes events of other services, the
 * reconciler finds and sends again what was lost, and old rows are pruned.
 */
export function startMessenger<P>(options: MessengerOptions<P>) {
  const { db, bus, service, logger, handlers, tracer } = options;
  const worker = (name: string, everyMs: number, step: () => Promise<number>) =>
    startWorker({ name, everyMs, step, logger });
  const relay = worker('relay', RELAY_EVERY_MS, async () => {
    const carried = await withBatchPause(
      () => relayStep(db, bus, logger, tracer),
      (count) => count === 0 || count >= RELAY_BATCH,
    );
    // A commit with more events wakes the relay; a step that finds nothing costs as much as one that finds events.
    return carried >= RELAY_BATCH ? carried : 0;
  });
  const workers = [
    relay,
    worker('reconciler', RECONCILE_EVERY_MS, () => reconcileStep(db, bus, logger)),
    // Of its own: under a steady load each step of the reconciler confirms something, and is followed by the next.
    worker('prune the outbox', PRUNE_OUTBOX_EVERY_MS, () => pruneOutboxStep(db)),
  ];
  let consumer: Pick<Worker, 'stop'> | undefined;
  if (handlers !== undefined && kindsFor(service).length > 0) {
    const committed = (events: readonly ProcessedEvent[]) => {
      relay.wake();
      options.committed?.(events);
    };
    consumer = startConsumer({ ...options, handlers, committed });
    workers.push(worker('prune the inbox', PRUNE_INBOX_EVERY_MS, () => pruneInboxStep(db, bus, service)));
  }
  answerReconcilers(bus, db, service);
  answerPruning(bus, db, service);
  return {
    /** The outbox has new events: send them now, not at the next step. */
    wake: relay.wake,
    /** Stops processing, then sending. */
    async stop() {
      await consumer?.stop();
      await Promise.all(workers.map((one) => one.stop()));
    },
  };
}

const BATCH = 100;

const STRAY_ANSWER =
  'answers of NATS itself were stored as events and are dropped: a user named an event’s subject as its reply subject. Give nats-server the configuration that `quittance nats permissions` prints, which prevents this. The log of nats-server shows the user: change the password of each';

/** Processes events of NATS in batches: inbox rows and effects in one transaction, acknowledged after the commit. */
export function startConsumer<P>(given: ConsumerOptions<P>): Pick<Worker, 'stop'> {
  const { bus, service, logger } = given;
  const throttled = throttledLog(logger);
  const options = { ...given, throttled };
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
          // Messages that were fetched and not processed are delivered again when their acknowledgement is overdue.
          messages.stop();
        }
      } catch (error) {
        const why = reason(error);
        throttled.log('warn', `lost: ${why}`, { reason: why }, 'the consumer lost NATS, starting it again');
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

/** Puts all messages that arrived while the last batch was written into the next one: a busy consumer writes large batches. */
async function drain<P>(
  messages: AsyncIterable<Message>,
  options: ProcessOptions<P> & Pick<ConsumerOptions, 'service'>,
): Promise<void> {
  const { service, logger, throttled } = options;
  const waiting: Message[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  let failure: Error | undefined;
  let misdelivered = 0;

  const reading = (async () => {
    try {
      for await (const message of messages) {
        // After a power cut NATS may have lost more of its stream than of its durable consumers. A message with a number
        // that is used again may belong to another service, which gets it from its own consumer.
        if (!isFor(service, message)) {
          message.ack();
          misdelivered += 1;
          if (misdelivered === 1)
            logger.warn({ subject: message.subject }, 'NATS delivered an event of another service');
          continue;
        }
        // No dead letters: there may be thousands a second, and no service has sent any of them.
        if (isAnswerOfTheBus(service, message)) {
          message.term();
          const fields = { subject: message.subject, bytes: message.data.length };
          throttled.log('error', 'stray', fields, STRAY_ANSWER);
          continue;
        }
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
    await withBatchPause(
      () => processMessages(batch, options),
      () => ended || waiting.length >= BATCH,
    );
  }
  await reading;
  if (failure !== undefined) throw failure;
}

const isFor = (service: Service, { subject }: Message): boolean => subject.split('.')[2] === service;

/** How NATS' own answers with a body begin: to a request about a consumer, to a publication. */
const answersBeginWith = ['{"type":"io.nats.jetstream.', '{"stream":"', '{"error":{'];

/**
 * NATS checks what a user publishes, and not which reply subject it names. With an account for each user (see
 * bus-permissions.ts) an answer reaches no stream under another service's subject. Under the configuration of an earlier
 * release, which an operator may still have, it does. No relay writes an empty message, one of another receiver, or a
 * bucket's value.
 */
export function isAnswerOfTheBus(
  service: Service,
  { data, headers }: Pick<Message, 'data' | 'headers'>,
): boolean {
  if (data.length === 0 || headers?.has('Nats-Stream') === true) return true;
  const name = headers?.get('Nats-Msg-Id') ?? '';
  if (name !== '' && !name.endsWith(`.${service}`)) return true;
  const beginning = Buffer.from(data.subarray(0, 64)).toString('latin1');
  return answersBeginWith.some((known) => beginning.startsWith(known));
}
