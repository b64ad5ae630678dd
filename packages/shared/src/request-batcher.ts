import type { Clock } from './clock.ts';
import { isDatabaseDown } from './db-errors.ts';

/** What `run` answers for an item that has to be run again: it goes to the head of its queue. */
export const runAgain: unique symbol = Symbol('run again');

export type RequestBatcherOptions<In, Out> = {
  /** Answers several items at once, in their order. When it throws, nothing was done for any of them. */
  run: (items: readonly In[]) => Promise<readonly (Out | typeof runAgain)[]>;
  /** Items in one run. */
  max: number;
  /** Runs in flight; what arrives meanwhile goes into the next one. */
  atOnce: number;
  /** Items of one group are never in two runs at the same time: they would wait for each other's row locks. */
  groupOf?: (item: In) => string;
  /** Items with the same key share one answer while it is awaited. */
  keyOf?: (item: In) => unknown;
  /** More waiting items than this are refused. */
  waitingMax?: number;
  /** Items that have waited this long are refused instead of run: whoever asked has given up. */
  expiry?: { clock: Clock; afterMs: number };
};

/** Thrown for an item that waited too long. It was not run. */
export class RequestExpired extends Error {
  override name = 'RequestExpired';
}

type Waiting<In, Out> = PromiseWithResolvers<Out> & {
  item: In;
  key: unknown;
  group: unknown;
  sinceMs: number;
};

/**
 * Runs what several callers ask for at the same moment as one statement: under load a round trip and a commit serve many.
 * A caller alone waits for no other, and nothing is remembered between runs. An item that fails is run again alone, so
 * that it does not fail the others; not when the database is away.
 */
export function requestBatcher<In, Out>(options: RequestBatcherOptions<In, Out>): (item: In) => Promise<Out> {
  const { run, max, atOnce, groupOf, keyOf, waitingMax = Number.POSITIVE_INFINITY, expiry } = options;
  /** Everything not yet answered, by its key. */
  const open = new Map<unknown, Waiting<In, Out>>();
  /** What waits in each group, in order. */
  const queues = new Map<unknown, Waiting<In, Out>[]>();
  /** Groups with a queue and without a run in flight, the longest waiting first. */
  let ready: unknown[] = [];
  let inFlight = 0;
  let isScheduled = false;
  const nowMs = () => expiry?.clock.now().getTime() ?? 0;

  function start(): void {
    isScheduled = false;
    while (inFlight < atOnce) {
      const batch = nextBatch();
      if (batch.length === 0) return;
      inFlight += 1;
      void settle(batch).finally(() => {
        inFlight -= 1;
        release(batch);
        start();
      });
    }
  }

  function nextBatch(): Waiting<In, Out>[] {
    const batch: Waiting<In, Out>[] = [];
    const tooLate = nowMs() - (expiry?.afterMs ?? 0);
    let looked = 0;
    while (batch.length < max && looked < ready.length) {
      const group = ready[looked];
      const queue = queues.get(group) ?? [];
      const taken = queue.splice(0, max - batch.length);
      const inTime = taken.filter(({ sinceMs }) => sinceMs >= tooLate);
      for (const one of taken) {
        if (one.sinceMs >= tooLate) continue;
        const waited = `the request waited for ${nowMs() - one.sinceMs} ms, its caller has given up: it was not run`;
        fail(one, new RequestExpired(waited));
      }
      batch.push(...inTime);
      if (inTime.length > 0) looked += 1;
      else if (queue.length === 0) {
        queues.delete(group);
        looked += 1;
      }
    }
    ready = ready.slice(looked);
    return batch;
  }

  async function settle(batch: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const answers = await run(batch.map(({ item }) => item));
      const again: Waiting<In, Out>[] = [];
      for (const [i, waiting] of batch.entries()) {
        const answer = answers[i] as Out | typeof runAgain;
        if (answer === runAgain) again.push(waiting);
        else {
          open.delete(waiting.key);
          waiting.resolve(answer);
        }
      }
      for (const waiting of again.toReversed()) queues.get(waiting.group)?.unshift(waiting);
    } catch (error) {
      if (batch.length > 1 && !isDatabaseDown(error)) for (const waiting of batch) await settle([waiting]);
      else for (const waiting of batch) fail(waiting, error);
    }
  }

  function fail({ key, reject }: Waiting<In, Out>, error: unknown): void {
    open.delete(key);
    reject(error);
  }

  /** The groups of a run that has ended are ready again, as far as something waits in them. */
  function release(batch: readonly Waiting<In, Out>[]): void {
    for (const group of new Set(batch.map((waiting) => waiting.group))) {
      if ((queues.get(group)?.length ?? 0) > 0) ready.push(group);
      else queues.delete(group);
    }
  }

  return (item) => {
    const key = keyOf === undefined ? Symbol() : keyOf(item);
    const same = open.get(key);
    if (same !== undefined) return same.promise;
    if (open.size >= waitingMax)
      return Promise.reject(new Error(`more than ${waitingMax} requests are waiting`));
    const group = groupOf === undefined ? key : groupOf(item);
    const waiting = { item, key, group, sinceMs: nowMs(), ...Promise.withResolvers<Out>() };
    open.set(key, waiting);
    const queue = queues.get(group);
    if (queue === undefined) {
      queues.set(group, [waiting]);
      ready.push(group);
    } else queue.push(waiting);
    // At the end of this turn of the event loop, with everything else that arrived in it.
    if (!isScheduled) {
      isScheduled = true;
      setImmediate(start);
    }
    return waiting.promise;
  };
}
