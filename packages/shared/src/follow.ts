import type { KvEntry } from 'nats';
import type { Bus } from './bus.ts';
import { sleep } from './clock.ts';
import { type Logger, reason } from './logger.ts';

export type FollowOptions = {
  bus: Bus;
  bucket: string;
  /** Called with each value that was put, at first with the newest of each key. */
  take: (entry: KvEntry) => void;
  logger: Logger;
};

/** Follows a key-value bucket of the bus, whatever becomes of the bus meanwhile. */
export function followBucket({ bus, bucket, take, logger }: FollowOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let end: (() => void) | undefined;

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const kv = await bus.kv(bucket);
        const entries = await kv.watch();
        end = () => entries.stop();
        if (stopping.signal.aborted) entries.stop();
        for await (const entry of entries) if (entry.operation === 'PUT') take(entry);
      } catch (error) {
        logger.warn({ bucket, reason: reason(error) }, 'a bucket cannot be followed, trying again');
      }
      await sleep(1_000, stopping.signal);
    }
  })();

  return {
    async stop() {
      stopping.abort();
      end?.();
      await loop;
    },
  };
}
