import {
  AckPolicy,
  type ConsumerMessages,
  connect,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type KV,
  type NatsConnection,
  NatsError,
  RetentionPolicy,
  StorageType,
  type Subscription,
} from 'nats';
import type { z } from 'zod';
import { type CommandName, commandSubject, commands, type ReplyOf, type RequestOf } from './commands.ts';
import { type EventKind, events, type Service, subjectOf, subjectsTo } from './events.ts';
import { type Logger, reason } from './logger.ts';

const STREAM = 'EVT';
/** What a service that died had fetched is handed out again after this long; writing a batch takes a tenth. */
const ACK_WAIT_MS = 5_000;
const PUBLISH_TIMEOUT_MS = 5_000;
const STREAM_AGE_MS = 7 * 24 * 3_600_000;
const DEDUPLICATION_MS = 120_000;
const nanos = (ms: number) => ms * 1_000_000;

/** What the relay hands over: `dedupe` makes a second copy within two minutes disappear in the broker. */
export type Outgoing = { kind: EventKind; dedupe: string; body: string };

/** `unknown` is not `refused`: nobody knows whether the other side acted. */
export type Asked<T> = { known: true; reply: T } | { known: false; reason: string };

export type Bus = {
  /** Publishes each and waits for the stream's word; answers which were stored. */
  publish(messages: readonly Outgoing[]): Promise<boolean[]>;
  ask<C extends CommandName>(command: C, request: RequestOf<C>): Promise<Asked<ReplyOf<C>>>;
  askRaw<T extends z.ZodType>(
    subject: string,
    request: unknown,
    reply: T,
    timeoutMs: number,
  ): Promise<Asked<z.infer<T>>>;
  /** Answers questions on a subject, shared among the replicas of a service. A throw is no answer at all. */
  answer(subject: string, handle: (body: unknown) => Promise<unknown>): void;
  /** The service's durable pull consumer, created when missing. */
  consume(service: Service): Promise<ConsumerMessages>;
  kv(bucket: string): Promise<KV>;
  connected(): boolean;
  close(): Promise<void>;
};

export type BusOptions = { url: string; service: string; logger: Logger };

/** Connects and stays connected: a bus that is down at start or later is retried for ever, with a log line. */
export async function connectBus({ url, service, logger }: BusOptions): Promise<Bus> {
  const nc = await connectPatiently(url, service, logger);
  const js = nc.jetstream({ timeout: PUBLISH_TIMEOUT_MS });
  let up = true;
  const answering = new Map<Subscription, Set<Promise<void>>>();
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        up = false;
        logger.warn('the bus is gone, reconnecting');
      } else if (status.type === 'reconnect') {
        up = true;
        logger.info('the bus is back');
      }
    }
  })();

  const bus: Bus = {
    async publish(messages) {
      const sent = await Promise.all(messages.map((message) => publishCopies(js, message, logger)));
      // A broker that lost its data directory lost its stream as well: make it again, the next try finds it.
      if (sent.flat().includes('no_stream')) await ensureStream(await nc.jetstreamManager(), logger);
      return sent.map((copies) => copies.every((outcome) => outcome === 'stored'));
    },

    ask<C extends CommandName>(command: C, request: RequestOf<C>) {
      const { reply, timeoutMs } = commands[command];
      return bus.askRaw(commandSubject(command), request, reply, timeoutMs) as Promise<Asked<ReplyOf<C>>>;
    },

    async askRaw(subject, request, reply, timeoutMs) {
      try {
        const message = await nc.request(subject, JSON.stringify(request), { timeout: timeoutMs });
        return { known: true, reply: reply.parse(message.json()) };
      } catch (error) {
        return { known: false, reason: reason(error) };
      }
    },

    answer(subject, handle) {
      const open = new Set<Promise<void>>();
      const subscription = nc.subscribe(subject, {
        queue: service,
        callback: (error, message) => {
          if (error !== null)
            return logger.error({ subject, reason: reason(error) }, 'a question could not be read');
          // Parsing inside the promise: a malformed question is logged, and its sender runs into its timeout.
          const answered = Promise.resolve()
            .then(() => handle(message.json()))
            .then((reply) => void message.respond(JSON.stringify(reply)))
            .catch((failure: unknown) =>
              logger.error({ subject, reason: reason(failure) }, 'a question went unanswered'),
            )
            .finally(() => open.delete(answered));
          open.add(answered);
        },
      });
      answering.set(subscription, open);
    },

    async consume(name) {
      const manager = await nc.jetstreamManager();
      await ensureStream(manager, logger);
      await ensureConsumer(manager, name);
      const consumer = await js.consumers.get(STREAM, name);
      // Ends when the stream or the durable is gone, so that its reader asks again and both are made anew.
      return consumer.consume({ max_messages: 400, expires: 5_000, abort_on_missing_resource: true });
    },

    kv: (bucket) => js.views.kv(bucket, { history: 1, storage: StorageType.File }),
    connected: () => up && !nc.isClosed(),
    async close() {
      // There is nothing to wait for from a bus that is away.
      if (!bus.connected()) return nc.close();
      // Takes no more questions and answers those it has; the other replicas get the rest.
      await Promise.all([...answering.keys()].map((subscription) => subscription.drain()));
      await Promise.all([...answering.values()].flatMap((open) => [...open]));
      await nc.drain();
    },
  };
  return bus;
}

async function connectPatiently(url: string, service: string, logger: Logger): Promise<NatsConnection> {
  for (;;) {
    try {
      return await connect({
        servers: url,
        name: service,
        inboxPrefix: `_INBOX.${service}`,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 500,
        pingInterval: 5_000,
        maxPingOut: 2,
        timeout: 3_000,
        // A stack trace made for every publication in case it fails is a seventh of the relay's work.
        noAsyncTraces: true,
      });
    } catch (error) {
      logger.warn({ reason: reason(error) }, 'the bus is not there yet, trying again in a second');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

type Publication = 'stored' | 'no_stream' | 'failed';

/** A copy for each receiver. Once all are stored the event is; else all go again, and those stored are doubles. */
const publishCopies = (js: JetStreamClient, message: Outgoing, logger: Logger): Promise<Publication[]> =>
  Promise.all(events[message.kind].to.map((to) => publishOne(js, message, to, logger)));

async function publishOne(
  js: JetStreamClient,
  message: Outgoing,
  to: Service,
  logger: Logger,
): Promise<Publication> {
  try {
    await js.publish(subjectOf(message.kind, to), message.body, { msgID: `${message.dedupe}.${to}` });
    return 'stored';
  } catch (error) {
    // 503: nobody listens on the subject, that is, there is no stream for it.
    if (error instanceof NatsError && error.code === '503') return 'no_stream';
    logger.warn(
      { kind: message.kind, reason: reason(error) },
      'an event could not be published, it will be sent again',
    );
    return 'failed';
  }
}

/** The one stream: on file, full means refuse (the outbox keeps it), nothing can be deleted from it. */
async function ensureStream(manager: JetStreamManager, logger: Logger): Promise<void> {
  try {
    await manager.streams.info(STREAM);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    logger.info('making the event stream');
    await manager.streams.add({
      name: STREAM,
      subjects: ['evt.>'],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.New,
      max_age: nanos(STREAM_AGE_MS),
      duplicate_window: nanos(DEDUPLICATION_MS),
      deny_delete: true,
      deny_purge: true,
    });
  }
}

async function ensureConsumer(manager: JetStreamManager, service: Service): Promise<void> {
  try {
    await manager.consumers.info(STREAM, service);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await manager.consumers.add(STREAM, {
      durable_name: service,
      // One filter: a consumer with several gets a tenth as much out of nats-server 2.10, and ever less.
      filter_subject: subjectsTo(service),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: nanos(ACK_WAIT_MS),
      max_ack_pending: 1_000,
      max_deliver: -1,
    });
  }
}

const isNotFound = (error: unknown): boolean =>
  error instanceof NatsError && (error.api_error?.code === 404 || error.code === '404');

export type { JsMsg };
