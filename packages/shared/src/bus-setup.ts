import { once } from 'node:events';
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
import {
  type BucketName,
  bucketNames,
  bucketStream,
  connectPatiently,
  PROVISIONER,
  STREAM,
} from './bus-connection.ts';
import { type AddressesOf, RUN_ONE, separateServers } from './bus-servers.ts';
import { receivers, type Service, subjectsTo } from './events.ts';
import { type Logger, throttledLog } from './logger.ts';
import { startWorker } from './worker.ts';

/** Messages that a dead process had fetched are delivered again after this time; writing a batch takes a tenth of it. */
const ACK_WAIT_MS = 5_000;
const STREAM_AGE_MS = 7 * 24 * 3_600_000;
const DEDUPLICATION_MS = 120_000;
const PROVISION_EVERY_MS = 2_000;
const ASK_TIMEOUT_MS = 2_000;
const APART = 'servers apart';
const nanos = (ms: number) => ms * 1_000_000;

/** Stored in files. When it is full it refuses events, which stay in the outbox. Nothing can be deleted from it. */
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

/** As NATS' clients expect a key-value bucket. The latest value of a key can be read without a consumer. */
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

/** The number in the stream up to which a durable consumer has delivered. */
type Reached = { service: Service; delivered: number };

/** A durable consumer that was replaced delivers again what arrived within this time, which is longer than a round of checks. */
const AGAIN_MS = 120_000;

/**
 * Creates the stream, durable consumers and buckets that NATS lacks, and tells the name of each. Changes nothing that exists,
 * except a durable consumer that is past the end of its stream.
 */
async function ensureBus(
  manager: JetStreamManager,
  replicas: number,
  tell: (made: string) => void,
): Promise<void> {
  const ensureStream = async (name: string, config: Partial<StreamConfig>) => {
    if ((await foundOnBus(() => manager.streams.info(name))) !== undefined) return;
    await manager.streams.add({ ...config, name, num_replicas: replicas });
    tell(`stream ${name}`);
  };
  await ensureStream(STREAM, eventStream);
  for (const bucket of bucketNames) await ensureStream(bucketStream(bucket), bucketConfig(bucket));
  const reached: Reached[] = [];
  for (const service of receivers) {
    const durable = await foundOnBus(() => manager.consumers.info(STREAM, service));
    if (durable !== undefined) {
      reached.push({ service, delivered: durable.delivered.stream_seq });
      continue;
    }
    await manager.consumers.add(STREAM, durableOf(service));
    tell(`consumer ${service}`);
  }
  for (const replaced of await bringBack(manager, reached)) tell(replaced);
}

/**
 * After a power cut NATS may have lost more of its stream than of its durable consumers: they wait at a number that the
 * stream has not reached, and never deliver the messages up to it. Such a consumer is replaced and delivers the latest
 * messages again: the inbox removes duplicates, and the reconciler finds older events that are missing.
 */
async function bringBack(manager: JetStreamManager, reached: readonly Reached[]): Promise<string[]> {
  // Read last, because the stream only grows.
  const { last_seq } = (await manager.streams.info(STREAM)).state;
  const ahead = reached.filter(({ delivered }) => delivered > last_seq);
  for (const { service } of ahead) {
    await manager.consumers.delete(STREAM, service);
    await manager.consumers.add(STREAM, {
      ...durableOf(service),
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: new Date(Date.now() - AGAIN_MS).toISOString(),
    });
  }
  return ahead.map(({ service }) => `consumer ${service}, which was past the end of the stream`);
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
export async function foundOnBus<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The stream or the durable consumer does not exist. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof NatsError && (error.api_error?.code === 404 || error.code === '404');

export type Provisioner = {
  /** What was created at first. Resolves once NATS lacks nothing. */
  made: Promise<string[]>;
  stop(): Promise<void>;
};

/**
 * Creates what NATS lacks, at once and from then on: when NATS has lost its data, it has stream, durable consumers and buckets
 * again within seconds, and the services, which may not create them, go on.
 * @param options `url` has the provisioner's name and password, where NATS has users. `replicas`: on how many nodes of a cluster of
 * NATS each stream is that it creates.
 */
export function startProvisioner(options: {
  url: string;
  logger: Logger;
  everyMs?: number;
  replicas?: number;
  /** Of the host in `url`: as this machine's resolver knows them when not given. */
  addressesOf?: AddressesOf;
}): Provisioner {
  const { url, logger, everyMs = PROVISION_EVERY_MS, replicas = 1, addressesOf } = options;
  const throttled = throttledLog(logger);
  const stopping = new AbortController();
  const first = Promise.withResolvers<string[]>();
  // What steps created that then failed is told too, once one has ended.
  let made: string[] = [];
  // A caller that does not wait for it finds the failure in the log.
  first.promise.catch(() => undefined);
  const keeping = keep();

  async function keep(): Promise<void> {
    try {
      const nc = await connectPatiently(url, PROVISIONER, logger, stopping.signal);
      const manager = await nc.jetstreamManager({ checkAPI: false, timeout: ASK_TIMEOUT_MS });
      const worker = startWorker({
        name: 'provisioner',
        everyMs,
        logger,
        async step() {
          try {
            await ensureBus(manager, replicas, (one) => made.push(one));
            if (made.length > 0) logger.info({ made }, 'NATS lacked something, it was created');
            first.resolve(made);
            made = [];
            const apart = await separateServers(nc, url, addressesOf);
            if (apart === undefined) throttled.ended(APART, {}, 'NATS is one again');
            else throttled.log('error', APART, {}, `${apart}. ${RUN_ONE}`);
          } catch (error) {
            // Stopping closes the connection while a request may be in flight.
            if (!stopping.signal.aborted) throw error;
          }
          return 0;
        },
      });
      // After a reconnect NATS may have lost its data.
      void (async () => {
        for await (const { type } of nc.status()) if (type === 'reconnect') worker.wake();
      })();
      if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
      await Promise.all([nc.close(), worker.stop()]);
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
    } finally {
      first.reject(new Error('the bus was not made before its provisioner was stopped'));
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
