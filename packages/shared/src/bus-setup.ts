import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  NatsError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import { connectPatiently } from './bus-connection.ts';
import { type BucketName, bucketNames, bucketStream, KEEPER, STREAM } from './bus-names.ts';
import { receivers, type Service, subjectsTo } from './events.ts';
import type { Logger } from './logger.ts';
import { startWorker } from './worker.ts';

/** What a service that died had fetched is handed out again after this long; writing a batch takes a tenth. */
const ACK_WAIT_MS = 5_000;
const STREAM_AGE_MS = 7 * 24 * 3_600_000;
const DEDUPLICATION_MS = 120_000;
const KEEP_EVERY_MS = 2_000;
const ASK_TIMEOUT_MS = 2_000;
const nanos = (ms: number) => ms * 1_000_000;

/** On file, full means refuse (the outbox keeps it), nothing can be deleted from it. */
const eventStream: Partial<StreamConfig> = {
  subjects: ['evt.>'],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.New,
  max_age: nanos(STREAM_AGE_MS),
  duplicate_window: nanos(DEDUPLICATION_MS),
  deny_delete: true,
  deny_purge: true,
};

/** As NATS' clients expect a key-value bucket; the last word of each key can be had without a consumer. */
const bucketConfig = (bucket: BucketName): Partial<StreamConfig> => ({
  subjects: [`$KV.${bucket}.>`],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.New,
  max_msgs_per_subject: 1,
  allow_rollup_hdrs: true,
  allow_direct: true,
  deny_delete: true,
});

/** The number in the stream up to which a durable has handed messages over. */
type Reached = { service: Service; delivered: number };

/** What is handed out again to a durable that was made anew: all that can have come since somebody looked. */
const AGAIN_MS = 120_000;

/**
 * Makes what the bus lacks of stream, durables and buckets; names what it made. Changes nothing that is there, but for a
 * durable that is past the end of its stream.
 */
async function ensureBus(manager: JetStreamManager): Promise<string[]> {
  const made: string[] = [];
  const ensureStream = async (name: string, config: Partial<StreamConfig>) => {
    if ((await found(() => manager.streams.info(name))) !== undefined) return;
    await manager.streams.add({ ...config, name });
    made.push(`stream ${name}`);
  };
  await ensureStream(STREAM, eventStream);
  for (const bucket of bucketNames) await ensureStream(bucketStream(bucket), bucketConfig(bucket));
  const reached: Reached[] = [];
  for (const service of receivers) {
    const durable = await found(() => manager.consumers.info(STREAM, service));
    if (durable !== undefined) {
      reached.push({ service, delivered: durable.delivered.stream_seq });
      continue;
    }
    await manager.consumers.add(STREAM, durableOf(service));
    made.push(`consumer ${service}`);
  }
  made.push(...(await bringBack(manager, reached)));
  return made;
}

/**
 * A broker that lost its power may know less of its stream than of its durables: they wait at a number that the stream
 * has not reached yet, and what it is given until then they never hand over. Such a one is made anew, and hands out again
 * what came of late: an inbox takes nothing in twice, and what came before is found missing, or is there.
 */
async function bringBack(manager: JetStreamManager, reached: readonly Reached[]): Promise<string[]> {
  // Asked last: until then the stream has only grown.
  const { last_seq } = (await manager.streams.info(STREAM)).state;
  const astray = reached.filter(({ delivered }) => delivered > last_seq);
  for (const { service } of astray) {
    await manager.consumers.delete(STREAM, service);
    await manager.consumers.add(STREAM, {
      ...durableOf(service),
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: new Date(Date.now() - AGAIN_MS).toISOString(),
    });
  }
  return astray.map(({ service }) => `consumer ${service}, which was past the end of the stream`);
}

const durableOf = (service: Service) => ({
  durable_name: service,
  // One filter: a consumer with several gets a tenth as much out of nats-server 2.10, and ever less.
  filter_subject: subjectsTo(service),
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  ack_wait: nanos(ACK_WAIT_MS),
  max_ack_pending: 1_000,
  max_deliver: -1,
});

/** Undefined when there is no such thing. */
async function found<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The stream or the durable that was asked for does not exist. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof NatsError && (error.api_error?.code === 404 || error.code === '404');

export type BusKeeper = {
  /** What was made at first; resolves once the bus is whole. */
  made: Promise<string[]>;
  stop(): Promise<void>;
};

export type BusKeeperOptions = {
  /** With the keeper's name and password, where the bus knows users. */
  url: string;
  logger: Logger;
  everyMs?: number;
};

/**
 * Makes the bus whole at once and looks after it from then on: a broker that lost its data has stream, durables and
 * buckets again within seconds, and the services, which may make none of them, go on.
 */
export function keepBus({ url, logger, everyMs = KEEP_EVERY_MS }: BusKeeperOptions): BusKeeper {
  const stopping = new AbortController();
  const first = Promise.withResolvers<string[]>();
  // Who does not wait for it hears of trouble in the log.
  first.promise.catch(() => undefined);
  const keeping = keep();

  async function keep(): Promise<void> {
    try {
      const nc = await connectPatiently(url, KEEPER, logger, stopping.signal);
      const manager = await nc.jetstreamManager({ checkAPI: false, timeout: ASK_TIMEOUT_MS });
      const worker = startWorker({
        name: 'bus keeper',
        everyMs,
        logger,
        async step() {
          try {
            const made = await ensureBus(manager);
            if (made.length > 0) logger.info({ made }, 'the bus lacked something, it was made');
            first.resolve(made);
          } catch (error) {
            // Whoever ends it takes the connection away under a question.
            if (!stopping.signal.aborted) throw error;
          }
          return 0;
        },
      });
      // One that is back after a while may be back without its data.
      void (async () => {
        for await (const { type } of nc.status()) if (type === 'reconnect') worker.wake();
      })();
      await aborted(stopping.signal);
      await Promise.all([nc.close(), worker.stop()]);
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
    } finally {
      first.reject(new Error('the bus was not made before its keeper was stopped'));
    }
  }

  return {
    made: first.promise,
    async stop() {
      stopping.abort();
      await keeping;
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
