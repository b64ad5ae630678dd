import type { z } from 'zod';
import type { Bus } from './bus.ts';
import type { BucketName } from './bus-names.ts';
import { type Clock, sleep } from './clock.ts';
import { type Logger, reason } from './logger.ts';
import { throttledLog } from './throttled-log.ts';

export type WatchedBucketOptions<K extends string, V> = {
  bus: Pick<Bus, 'connected' | 'kv'>;
  bucket: BucketName;
  keys: readonly K[];
  schema: z.ZodType<V>;
  clock: Clock;
  logger: Logger;
};

export type WatchedBucket<K extends string, V> = {
  /** The newest value however old, or undefined when none was ever seen. For showing, not for deciding. */
  latest(key: K): V | undefined;
  /** The newest value, unless it is older than `maxAgeMs`. */
  fresh(key: K, maxAgeMs: number): V | undefined;
  stop(): Promise<void>;
};

const READ_EVERY_MS = 1_000;
/** A service that starts cannot work without first values, and their writer may be starting too. */
const FIRST_READ_EVERY_MS = 200;
const FIRST_READS = 50;

/** Writes the newest values of some keys; see `buckets` for the one service that may. */
export async function putInBucket<V>(
  bus: Pick<Bus, 'kv'>,
  bucket: BucketName,
  values: ReadonlyMap<string, V>,
): Promise<void> {
  const kv = await bus.kv(bucket);
  await Promise.all([...values].map(([key, value]) => kv.put(key, JSON.stringify(value))));
}

/**
 * Keeps the newest value of some keys of a key-value bucket, through outages of NATS. It reads every second: a subscription
 * takes a consumer, and a user that may create one can have its messages delivered to any subject.
 */
export function watchBucket<K extends string, V extends { as_of: string }>({
  bus,
  bucket,
  keys,
  schema,
  clock,
  logger,
}: WatchedBucketOptions<K, V>): WatchedBucket<K, V> {
  const stopping = new AbortController();
  const throttled = throttledLog(logger);
  const revisions = new Map<K, number>();
  const values = new Map<K, V>();

  async function readKey(kv: Awaited<ReturnType<Bus['kv']>>, key: K): Promise<void> {
    const entry = await kv.get(key);
    // Not "newer": a bucket that was made again counts its revisions from 1.
    if (entry === null || entry.operation !== 'PUT' || revisions.get(key) === entry.revision) return;
    revisions.set(key, entry.revision);
    try {
      values.set(key, schema.parse(entry.json()));
    } catch (error) {
      logger.error({ bucket, key, reason: reason(error) }, 'a value in a bucket has an unknown form');
    }
  }

  const loop = (async () => {
    for (let reads = 1; !stopping.signal.aborted; ) {
      try {
        if (bus.connected()) {
          reads += 1;
          const kv = await bus.kv(bucket);
          await Promise.all(keys.map((key) => readKey(kv, key)));
          throttled.ended(bucket, { bucket }, 'the bucket is read again');
        }
      } catch (error) {
        const fields = { bucket, reason: reason(error) };
        throttled.log('warn', bucket, fields, 'a bucket cannot be read, trying again');
      }
      const isStarting = revisions.size === 0 && reads < FIRST_READS;
      await sleep(isStarting ? FIRST_READ_EVERY_MS : READ_EVERY_MS, stopping.signal);
    }
  })();

  return {
    latest: (key) => values.get(key),
    fresh(key, maxAgeMs) {
      const value = values.get(key);
      if (value === undefined) return undefined;
      return clock.now().getTime() - Date.parse(value.as_of) <= maxAgeMs ? value : undefined;
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
