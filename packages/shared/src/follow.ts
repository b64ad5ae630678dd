import type { KvEntry } from 'nats';
import type { Bus } from './bus.ts';
import type { BucketName } from './bus-names.ts';
import { sleep } from './clock.ts';
import { type Logger, reason } from './logger.ts';

export type FollowOptions = {
  bus: Bus;
  bucket: BucketName;
  keys: readonly string[];
  /** Called with the newest value of each key, and again whenever another was put. */
  take: (entry: KvEntry) => void;
  logger: Logger;
};

const LOOK_EVERY_MS = 1_000;
/** A service that starts cannot work without a first word of the others, which may just be starting too. */
const FIRST_LOOK_EVERY_MS = 200;
const FIRST_LOOKS = 50;

/**
 * Follows some keys of a key-value bucket, whatever becomes of the bus meanwhile. It looks again and again instead of
 * being told: to be told takes a consumer, and who may make one can have its messages delivered anywhere.
 */
export function followBucket({ bus, bucket, keys, take, logger }: FollowOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const seen = new Map<string, number>();
  let said: string | undefined;

  async function look(): Promise<void> {
    const kv = await bus.kv(bucket);
    for (const entry of await Promise.all(keys.map((key) => kv.get(key)))) {
      // Not "newer": one that was made anew counts from the beginning.
      if (entry === null || entry.operation !== 'PUT' || seen.get(entry.key) === entry.revision) continue;
      seen.set(entry.key, entry.revision);
      take(entry);
    }
  }

  const loop = (async () => {
    for (let looks = 1; !stopping.signal.aborted; looks++) {
      try {
        if (bus.connected()) await look();
        said = undefined;
      } catch (error) {
        const why = reason(error);
        if (why !== said) logger.warn({ bucket, reason: why }, 'a bucket cannot be read, trying again');
        said = why;
      }
      const soon = seen.size === 0 && looks < FIRST_LOOKS;
      await sleep(soon ? FIRST_LOOK_EVERY_MS : LOOK_EVERY_MS, stopping.signal);
    }
  })();

  return {
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
