/** Waits. @throws the reason of `signal` when it is aborted */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) return stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export type Limit = { signal: AbortSignal; isOver(): boolean; end(): void };

/**
 * A signal that is aborted with `signal`, or after `ms`. AbortSignal.any and AbortSignal.timeout would stay in memory with a
 * signal that lives for long. Call `end` when what it limits has ended.
 */
export function limit(ms: number, signal: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  let isOver = false;
  const stop = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, ms);
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}
