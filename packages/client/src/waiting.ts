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

export type Limit = {
  signal: AbortSignal;
  isOver(): boolean;
  /** Without its time, for what lasts as long as it lasts: it still ends with the signal. */
  goOn(): void;
  goesOn(): boolean;
  end(): void;
};

/**
 * A signal that is aborted with `signal`, or after `ms`. AbortSignal.any and AbortSignal.timeout would stay in memory with a
 * signal that lives for long. Call `end` when what it limits has ended.
 */
export function limit(ms: number, signal: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  let isOver = false;
  let isOpenEnded = false;
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
    goOn() {
      clearTimeout(timer);
      isOpenEnded = true;
    },
    goesOn: () => isOpenEnded,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}
