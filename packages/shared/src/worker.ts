import { performance } from 'node:perf_hooks';
import { sleep } from './clock.ts';
import { type Logger, reason, throttledLog } from './logger.ts';

export type Worker = {
  /** There is work: the next step begins now, not at the end of the pause. */
  wake(): void;
  /** Ends after the step in flight. */
  stop(): Promise<void>;
};

export type WorkerOptions = {
  name: string;
  /** The pause after a step that found nothing to do. */
  everyMs: number;
  /** One step. Returns how much it did. It keeps nothing in memory for the next one. */
  step: () => Promise<number>;
  logger: Logger;
};

const FAILURE_PAUSE_MS = 1_000;
/** A worker that fails again so soon after its recovery is unsteady, until it has not failed for so long. */
const STEADY_AFTER_MS = 60_000;

/** Steps forever: again at once while there is work, after a pause when there is none or a step failed. */
export function startWorker({ name: worker, everyMs, step, logger }: WorkerOptions): Worker {
  let stopped = false;
  let pause = new AbortController();
  let isWoken = false;
  const steps = logSteps(logger, worker);

  const loop = (async () => {
    while (!stopped) {
      isWoken = false;
      let pauseMs = FAILURE_PAUSE_MS;
      try {
        const isBusy = (await step()) > 0;
        pauseMs = isBusy || isWoken ? 0 : everyMs;
        steps.succeeded(pauseMs);
      } catch (error) {
        steps.failed(error);
      }
      if (pauseMs === 0) {
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      pause = new AbortController();
      if (!stopped) await sleep(pauseMs, pause.signal);
    }
  })();

  const wake = () => {
    // It is called thousands of times a second, and an abort is not cheap.
    if (isWoken) return;
    isWoken = true;
    pause.abort();
  };

  return {
    wake,
    async stop() {
      stopped = true;
      pause.abort();
      await loop;
    },
  };
}

/**
 * Logs a worker's failures: the first one at once and one a minute while they last, and the recovery at the first step that
 * succeeds. A worker that fails again within a minute is unsteady, for example because its node loses some of its answers:
 * it has recovered when no step has failed for a minute, so that it logs about one line a minute and not two for each failure.
 * Before a pause that is longer than what is left of that minute the recovery is logged at once: the log would tell of a
 * failure all the while.
 */
export function logSteps(
  logger: Logger,
  worker: string,
  nowMs: () => number = () => performance.now(),
): { failed(error: unknown): void; succeeded(pauseMs: number): void } {
  const failures = throttledLog(logger, nowMs);
  let isFailing = false;
  let isUnsteady = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  let recoveredAt = Number.NEGATIVE_INFINITY;
  return {
    failed(error) {
      failedAt = nowMs();
      if (!isFailing) isUnsteady = failedAt - recoveredAt < STEADY_AFTER_MS;
      isFailing = true;
      const fields = { worker, reason: reason(error) };
      failures.log('error', worker, fields, 'a step failed, trying again every second');
    },
    succeeded(pauseMs) {
      if (!isFailing || (isUnsteady && nowMs() + pauseMs - failedAt < STEADY_AFTER_MS)) return;
      isFailing = false;
      recoveredAt = nowMs();
      failures.ended(worker, { worker }, 'the worker is working again');
    },
  };
}

const TIMES_AS_LONG = 2;
const PAUSE_MAX_MS = 20;

/**
 * Executes a step and then pauses for twice as long as it took, so that events that arrive in the pause share the next step.
 * A step costs about as much for one event as for ten: under load, when steps take longer, more events share one, and a
 * single event never waits.
 * @param isFull whether the step's result says that more is waiting already: then there is no pause
 */
export async function withBatchPause<T>(
  step: () => Promise<T>,
  isFull: (done: T) => boolean,
  pause: (ms: number) => Promise<void> = sleep,
): Promise<T> {
  const begun = performance.now();
  const done = await step();
  if (!isFull(done)) await pause(batchPauseMs(performance.now() - begun));
  return done;
}

export const batchPauseMs = (tookMs: number): number => Math.min(tookMs * TIMES_AS_LONG, PAUSE_MAX_MS);
