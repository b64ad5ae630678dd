import { type ConsumerMessages, type JetStreamClient, type KV, NatsError, type Subscription } from 'nats';
import type { z } from 'zod';
import { type BucketName, connectPatiently, STREAM } from './bus-connection.ts';
import { isNotFound } from './bus-setup.ts';
import { certificateLook } from './certificate-problem.ts';
import { type CommandName, commandSubject, commands, type ReplyOf, type RequestOf } from './commands.ts';
import { type EventKind, events, type Service, subjectOf } from './events.ts';
import { type Logger, reason, throttledLog } from './logger.ts';

const PUBLISH_TIMEOUT_MS = 5_000;
/** The broker counts a message's headers, too: its name for doubles is all that ours have. */
const HEADERS_MAX_BYTES = 1_024;

/** What the relay hands over: `dedupe` makes a second copy within two minutes disappear in the broker. */
export type Outgoing = { kind: EventKind; dedupe: string; body: string };

/** `unknown` is not `refused`: nobody knows whether the other side acted. */
export type Asked<T> = { known: true; reply: T } | { known: false; reason: string };

export type Bus = {
  /** Publishes each and waits for the stream's word; answers which were stored. */
  publish(messages: readonly Outgoing[]): Promise<boolean[]>;
  ask<C extends CommandName>(command: C, request: RequestOf<C>): Promise<Asked<ReplyOf<C>>>;
  request<T extends z.ZodType>(
    subject: string,
    request: unknown,
    reply: T,
    timeoutMs: number,
  ): Promise<Asked<z.infer<T>>>;
  /** Answers requests on a subject, shared among the replicas of a service. A throw is no answer at all. */
  answer(subject: string, handle: (body: unknown) => Promise<unknown>): void;
  /** The service's durable pull consumer; throws while NATS lacks it. */
  consume(service: Service): Promise<ConsumerMessages>;
  kv(bucket: BucketName): Promise<Bucket>;
  connected(): boolean;
  /** Whether NATS accepts a body of this size. A body that is too large is too large forever. */
  hasRoomFor(body: string): boolean;
  close(): Promise<void>;
};

/** Single keys with their newest values: no service has the right to read more of a bucket. */
export type Bucket = Pick<KV, 'get' | 'put'>;

export type BusOptions = { url: string; service: string; logger: Logger };

/** Connects and stays connected: while NATS is down, at start or later, it retries forever, with a log line. */
export async function connectBus({ url, service, logger }: BusOptions): Promise<Bus> {
  const nc = await connectPatiently(url, service, logger);
  const js = nc.jetstream({ timeout: PUBLISH_TIMEOUT_MS, checkAPI: false });
  const throttled = throttledLog(logger);
  /** Only the provisioner may create what NATS lacks. */
  const lacks = (what: string, isLacking: boolean) => {
    if (isLacking) throttled.log('warn', what, {}, `the bus has no ${what}, waiting until it is made`);
    else throttled.ended(what, {}, `the bus has its ${what} now`);
  };
  const lookAtCertificate = certificateLook(url, (problem) =>
    throttled.log('error', 'certificate', { reason: problem }, 'the bus cannot be connected to'),
  );
  let up = true;
  const answering = new Map<Subscription, Set<Promise<void>>>();
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        up = false;
        logger.warn('the bus is gone, reconnecting');
      } else if (status.type === 'reconnecting') {
        lookAtCertificate();
      } else if (status.type === 'reconnect') {
        up = true;
        throttled.ended('certificate', {}, 'the certificate of the bus is accepted again');
        logger.info('the bus is back');
      } else if (status.type === 'error') {
        const { data: error, permissionContext: of } = status;
        throttled.log('error', JSON.stringify([error, of]), { error, of }, 'the bus refused something');
      }
    }
  })();

  const bus: Bus = {
    async publish(messages) {
      const sent = await Promise.all(messages.map((message) => publishCopies(js, message)));
      const failures = sent.flat().filter((outcome) => typeof outcome === 'object');
      if (failures[0] !== undefined) {
        const fields = { copies: failures.length, reason: failures[0].failed };
        throttled.log('warn', 'publish', fields, 'events could not be published, they will be sent again');
      } else if (messages.length > 0) throttled.ended('publish', {}, 'events are published again');
      // A broker that lost its data directory lost its stream as well: a later try finds it made again.
      if (messages.length > 0) lacks('event stream', sent.flat().includes('no_stream'));
      return sent.map((copies) => copies.every((outcome) => outcome === 'stored'));
    },

    ask<C extends CommandName>(command: C, request: RequestOf<C>) {
      const { reply, timeoutMs } = commands[command];
      return bus.request(commandSubject(command), request, reply, timeoutMs) as Promise<Asked<ReplyOf<C>>>;
    },

    async request(subject, request, reply, timeoutMs) {
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
          // An answer is sent with our rights: whoever asks must not choose a place where it is more than an answer.
          // `_R_.` is nats-server's own, for a question from another account; no user can name it.
          if (!/^_(?:INBOX|R_)\./.test(message.reply ?? ''))
            return logger.error({ subject, to: message.reply }, 'a question wanted its answer elsewhere');
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
      try {
        const consumer = await js.consumers.get(STREAM, name);
        lacks('durable consumer', false);
        // Ends when the stream or the consumer no longer exists, so that the reader connects to the one created next.
        return await consumer.consume({ max_messages: 400, expires: 5_000, abort_on_missing_resource: true });
      } catch (error) {
        if (isNotFound(error)) lacks('durable consumer', true);
        throw error;
      }
    },

    // Without a request to NATS: a user that may read or write keys may not look up the bucket.
    kv: (bucket) => js.views.kv(bucket, { bindOnly: true, allow_direct: true }),
    connected: () => up && !nc.isClosed(),
    hasRoomFor(body) {
      const bytes = nc.info?.max_payload;
      return bytes === undefined || Buffer.byteLength(body) + HEADERS_MAX_BYTES <= bytes;
    },
    async close() {
      // While NATS is down there is nothing to wait for.
      if (!bus.connected()) return nc.close();
      // Accepts no more requests and answers those it has. The other replicas get the rest.
      await Promise.all([...answering.keys()].map((subscription) => subscription.drain()));
      await Promise.all([...answering.values()].flatMap((open) => [...open]));
      await nc.drain();
    },
  };
  return bus;
}

const NOT_YET = 'the bus is not there yet';

/**
 * A bus that ports are made with before there is a connection. Until `connect` is called nothing is published, questions
 * are not known to be answered, and whatever else is asked of it throws.
 */
export function lateBus(): { bus: Bus; connect(bus: Bus): void } {
  let connected: Bus | undefined;
  const there = (): Bus => {
    if (connected === undefined) throw new Error(NOT_YET);
    return connected;
  };
  return {
    connect(bus) {
      connected = bus;
    },
    bus: {
      publish: async (messages) => (await connected?.publish(messages)) ?? messages.map(() => false),
      ask: async (...given) => (await connected?.ask(...given)) ?? { known: false, reason: NOT_YET },
      request: async (...given) => (await connected?.request(...given)) ?? { known: false, reason: NOT_YET },
      answer: (...given) => there().answer(...given),
      consume: async (service) => await there().consume(service),
      kv: async (bucket) => await there().kv(bucket),
      connected: () => connected?.connected() ?? false,
      hasRoomFor: (body) => connected?.hasRoomFor(body) ?? true,
      close: async () => await connected?.close(),
    },
  };
}

/** What an operator does about a NATS without room; a server may use three quarters of what is free when it starts. */
function remedyOf(refusal: string): string {
  if (refusal.includes('no space left')) return ': make room on the disk of NATS';
  return refusal === 'insufficient resources'
    ? ': NATS has filled the part of its disk that it may use; make room there, and restart it'
    : '';
}

type Publication = 'stored' | 'no_stream' | { failed: string };

/** A copy for each receiver. Once all are stored the event is; else all go again, and those stored are doubles. */
const publishCopies = (js: JetStreamClient, message: Outgoing): Promise<Publication[]> =>
  Promise.all(events[message.kind].to.map((to) => publishOne(js, message, to)));

async function publishOne(js: JetStreamClient, message: Outgoing, to: Service): Promise<Publication> {
  try {
    await js.publish(subjectOf(message.kind, to), message.body, { msgID: `${message.dedupe}.${to}` });
    return 'stored';
  } catch (error) {
    // The stream's own refusal, as when it is full, is a 503 as well; its words are not the driver's.
    const refusal = error instanceof NatsError ? error.api_error : undefined;
    if (refusal !== undefined) return { failed: `${refusal.description}${remedyOf(refusal.description)}` };
    // 503 from nobody: there is no stream for the subject.
    if (error instanceof NatsError && error.code === '503') return 'no_stream';
    return { failed: reason(error) };
  }
}
