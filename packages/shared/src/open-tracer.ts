import { sleep } from './clock.ts';
import { type Logger, reason, throttledLog } from './logger.ts';
import type { Secret } from './secret.ts';
import { type IdentifiedSpan, identified, noTracer, type SpanExporter, type Tracer } from './traces.ts';

export type TraceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: Secret | undefined;
};

export type SpanOutcome = 'exported' | 'dropped';
export const spanOutcomes: readonly SpanOutcome[] = ['exported', 'dropped'];

export type OpenTracer = Tracer & {
  /** False: there is nothing to count. */
  isOn: boolean;
  /** From now on told what became of spans. */
  onCount(count: (outcome: SpanOutcome, spans: number) => void): void;
  /** Sends what is waiting, for a second at most. */
  close(): Promise<void>;
};

/**
 * The tracer of a service. The packages that send spans take 0.14 s to load, and are loaded only where a collector is set.
 * @param instance names this process
 */
export async function openTracer(
  service: string,
  instance: string,
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers }: TraceSettings,
  logger: Logger,
): Promise<OpenTracer> {
  const off = { ...noTracer, isOn: false, onCount: () => {}, close: async () => {} };
  if (endpoint === undefined) return off;
  try {
    const { openSpanExporter } = await import('./trace-exporter.ts');
    const exporter = openSpanExporter(service, instance, { endpoint, headers: headers?.reveal() });
    return queuedTracer(exporter, logger);
  } catch (error) {
    logger.error({ reason: reason(error) }, 'the exporter of traces could not be made: there are no traces');
    return off;
  }
}

/** More spans than wait here are dropped. At about 1 kB each, the queue takes a few megabytes. */
const QUEUE_MAX = 4_096;
const BATCH_MAX = 512;
const SEND_EVERY_MS = 1_000;
const CLOSE_WITHIN_MS = 1_000;
const COLLECTOR = 'collector';

/** Queues spans and sends them in batches, one at a time. What the collector does not take is dropped and counted. */
export function queuedTracer(exporter: SpanExporter, logger: Logger): OpenTracer {
  const throttled = throttledLog(logger);
  const queue: IdentifiedSpan[] = [];
  let count: (outcome: SpanOutcome, spans: number) => void = () => {};
  let sending: Promise<void> | undefined;

  function drop(spans: number, why: string): void {
    count('dropped', spans);
    const message = 'the collector of traces takes no spans: they are dropped';
    throttled.log('warn', COLLECTOR, { spans, reason: why }, message);
  }

  async function send(): Promise<void> {
    const batch = queue.splice(0, BATCH_MAX);
    try {
      await exporter.send(batch);
      count('exported', batch.length);
      throttled.ended(COLLECTOR, {}, 'the collector takes spans again');
    } catch (error) {
      drop(batch.length, reason(error));
    }
  }

  function flush(): void {
    if (sending !== undefined || queue.length === 0) return;
    sending = send().finally(() => {
      sending = undefined;
      if (queue.length >= BATCH_MAX) flush();
    });
  }

  const timer = setInterval(flush, SEND_EVERY_MS);
  timer.unref();

  return {
    isOn: true,
    now: () => new Date(),
    onCount(told) {
      count = told;
    },
    record(make) {
      try {
        const spans = make().map(identified);
        const room = QUEUE_MAX - queue.length;
        queue.push(...spans.slice(0, room));
        if (spans.length > room) drop(spans.length - room, 'too many wait for the collector');
        if (queue.length >= BATCH_MAX) flush();
      } catch (error) {
        // What is traced has happened: a span that cannot be made stops nothing.
        throttled.log('error', 'span', { reason: reason(error) }, 'a span could not be made');
      }
    },
    async close() {
      clearInterval(timer);
      const tooLate = new AbortController();
      const emptied = (async () => {
        while (!tooLate.signal.aborted && (sending !== undefined || queue.length > 0)) {
          flush();
          await sending;
        }
        await exporter.close();
      })().catch((error: unknown) => {
        logger.warn({ reason: reason(error) }, 'the exporter of traces did not close');
      });
      await Promise.race([emptied, sleep(CLOSE_WITHIN_MS, tooLate.signal)]);
      tooLate.abort();
      if (queue.length > 0) drop(queue.splice(0).length, 'the service has ended');
    },
  };
}
